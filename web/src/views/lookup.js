/* Finds a job or run by job id or GitHub URL. */

import { redirect, link } from "../address.js";
import * as api from "../api.js";
import { el } from "../dom.js";
import { live } from "../live.js";

export const lookup = {
  title: () => "Search",
  draw(context) {
    const wanted = context.query.q ?? "";
    const load = /^\d+$/.test(wanted)
      ? (signal) => byId(wanted, context, signal)
      : (signal) => api.get("v1/jobs/lookup", { url: wanted }, signal);
    return live(el("section", { class: "panel" }), { context, load, draw: open });
  },
};

/** A job id doesn't name its installation: tries the current installation first, then the others. */
async function byId(id, { installation, installations }, signal) {
  const others = installations.map((each) => String(each.installation_id)).filter((each) => each !== installation);
  let notFound;
  for (const each of [installation, ...others]) {
    try {
      return { installation_id: each, job_id: id, job: await api.get(api.of(each, "jobs", id), {}, signal) };
    } catch (error) {
      if (error.status !== 404) throw error;
      notFound ??= error;
    }
  }
  throw notFound;
}

function open({ installation_id: installation, job_id: job, job: known, run_id: run, run_attempt: attempt }) {
  const found = known ? link(installation, "job", job) : link(installation, "run", run, { attempt });
  queueMicrotask(() => redirect(found));
  return el("p", {}, "Found.");
}
