/* From a job's id or a pasted GitHub URL to the job or run behind it. */

import { become, link } from "../address.js";
import * as api from "../api.js";
import { el } from "../dom.js";
import { live } from "../live.js";

export const lookup = {
  title: () => "Search",
  draw(context) {
    const asked = context.query.q ?? "";
    const load = /^\d+$/.test(asked)
      ? (signal) => byId(asked, context, signal)
      : (signal) => api.get("v1/jobs/lookup", { url: asked }, signal);
    return live(el("section", { class: "panel" }), { context, load, draw: open });
  },
};

/** An id belongs to an installation: the one that is looked at first, then the others. */
async function byId(id, { installation, installations }, signal) {
  const others = installations.map((each) => String(each.installation_id)).filter((each) => each !== installation);
  let refusal;
  for (const each of [installation, ...others]) {
    try {
      return { installation_id: each, job_id: id, job: await api.get(api.of(each, "jobs", id), {}, signal) };
    } catch (error) {
      if (error.status !== 404) throw error;
      refusal ??= error;
    }
  }
  throw refusal;
}

function open({ installation_id: installation, job_id: job, job: known, run_id: run, run_attempt: attempt }) {
  const found = known ? link(installation, "job", job) : link(installation, "run", run, { attempt });
  queueMicrotask(() => become(found));
  return el("p", {}, "Found.");
}
