/* Finds a job, run or repository by id, name or GitHub URL. */

import { link, redirect } from "../address.js";
import * as api from "../api.js";
import { el, userText } from "../dom.js";
import { live } from "../live.js";
import { empty } from "../parts/states.js";

const REPOSITORY = /^(?:https?:\/\/[^/]+\/)?([\w.-]+\/[\w.-]+?)(?:\.git)?\/?$/;
const UNREADABLE = new Set([400, 422]);

export const lookup = {
  title: () => "Search",
  isComplete: ({ query }) => Boolean(query.q?.trim()),
  draw(context) {
    const wanted = (context.query.q ?? "").trim();
    const load = (signal) => find(wanted, context, signal);
    return live(el("section", { class: "panel" }), { context, load, draw: (found) => open(found, wanted, context) });
  },
};

/** Returns `{address}` of the only match, or `{repositories}` that match the text, which may be none. */
async function find(wanted, context, signal) {
  const [, kind, id] = /^(?:(job|run)\s+)?#?(\d+)$/i.exec(wanted) ?? [];
  if (id) return byId(id, kind ? [kind.toLowerCase()] : ["job", "run"], context, signal);
  if (/^https?:\/\//.test(wanted) && !REPOSITORY.test(wanted)) return byUrl(wanted, signal);
  return byName(REPOSITORY.exec(wanted)?.[1] ?? wanted, context, signal);
}

/** An id doesn't name its installation, and may not name what it is: tries `views`, the current installation first. */
async function byId(id, views, { installation, installations }, signal) {
  const others = installations.map((each) => String(each.installation_id)).filter((each) => each !== installation);
  for (const view of views) {
    for (const each of [installation, ...others]) {
      const found = await orNothing(api.get(api.of(each, `${view}s`, id), {}, signal), [404]);
      if (found) return { address: link(each, view, id) };
    }
  }
  return { repositories: [] };
}

async function byUrl(url, signal) {
  const found = await orNothing(api.get("v1/jobs/lookup", { url }, signal), [404, ...UNREADABLE]);
  if (!found) return { repositories: [] };
  const { installation_id: installation, job, job_id: id, run_id: run, run_attempt: attempt } = found;
  return { address: job ? link(installation, "job", id) : link(installation, "run", run, { attempt }) };
}

/** Repositories of all installations whose names contain the text. */
async function byName(text, { installations }, signal) {
  const lists = await Promise.all(
    installations.map(async ({ installation_id: installation }) => {
      const { items } = await api.get(api.of(installation, "repositories"), {}, signal);
      return items.map(({ repo_full_name: name }) => ({ installation, name }));
    }),
  );
  const matching = lists.flat().filter(({ name }) => name.toLowerCase().includes(text.toLowerCase()));
  const exact = matching.filter(({ name }) => name.toLowerCase() === text.toLowerCase());
  return exact.length === 1 ? { address: ofRepository(exact[0]) } : { repositories: matching };
}

function ofRepository({ installation, name }) {
  return link(installation, "repository", undefined, { repo: name });
}

async function orNothing(request, statuses) {
  try {
    return await request;
  } catch (error) {
    if (!statuses.includes(error.status)) throw error;
    return null;
  }
}

function open({ address, repositories }, wanted, { installation }) {
  if (address) {
    queueMicrotask(() => redirect(address));
    return el("p", {}, "Found.");
  }
  if (!repositories.length) return nothing(wanted, installation);
  return [
    el("h2", {}, "Repositories"),
    el(
      "ul",
      { class: "findings" },
      repositories.map((each) => el("li", {}, el("a", { href: ofRepository(each) }, userText(each.name)))),
    ),
  ];
}

function nothing(wanted, installation) {
  return empty(
    "Nothing found",
    ["The ledger has nothing for ", userText(wanted), "."],
    el(
      "p",
      {},
      "Search for the id of a job or run, the URL of either on GitHub, or the name of a repository. ",
      "A job that ran before Runledger was set up, or whose retention has ended, isn't recorded.",
    ),
    el("a", { href: link(installation, "jobs") }, "View jobs"),
  );
}
