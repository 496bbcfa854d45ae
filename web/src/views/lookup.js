/* Finds a job or run by its id or GitHub URL, and repositories and packages by their names. */

import { link, redirect } from "../address.js";
import * as api from "../api.js";
import { el, userText } from "../dom.js";
import { live } from "../live.js";
import { empty } from "../parts/states.js";

const REPOSITORY = /^(?:https?:\/\/[^/]+\/)?([\w.-]+\/[\w.-]+?)(?:\.git)?\/?$/;
const PAGE = 200;
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

/** Returns `{address}` of the only match, or `{names}` that match the text, which may be none. */
async function find(wanted, context, signal) {
  const [, kind, id] = /^(?:(job|run)\s+)?#?(\d+)$/i.exec(wanted) ?? [];
  if (id) return byId(id, kind ? [kind.toLowerCase()] : ["job", "run"], context, signal);
  if (/^https?:\/\//.test(wanted) && !REPOSITORY.test(wanted)) return byUrl(wanted, signal);
  return byName(REPOSITORY.exec(wanted)?.[1] ?? wanted, context, signal);
}

/** An id names neither its installation nor whether it is a job or a run. Tries each of `views`, in the current installation first. */
async function byId(id, views, { installation, installations }, signal) {
  const others = installations.map((each) => String(each.installation_id)).filter((each) => each !== installation);
  for (const view of views) {
    for (const each of [installation, ...others]) {
      const found = await orNothing(api.get(api.of(each, `${view}s`, id), {}, signal), [404]);
      if (found) return { address: link(each, view, id) };
    }
  }
  return { names: [] };
}

async function byUrl(url, signal) {
  const found = await orNothing(api.get("v1/jobs/lookup", { url }, signal), [404, ...UNREADABLE]);
  if (!found) return { names: [] };
  const { installation_id: installation, job, job_id: id, run_id: run, run_attempt: attempt } = found;
  return { address: job ? link(installation, "job", id) : link(installation, "run", run, { attempt }) };
}

/** Repositories and packages of all installations whose names contain the text. */
async function byName(text, { installations, me }, signal) {
  const lists = await Promise.allSettled(
    installations.flatMap(({ installation_id: id }) => [withJobs(id, signal), ...(me.releases ? released(id, signal) : [])]),
  );
  const known = new Map(); // the first address of a repository is kept: that of its jobs
  for (const each of lists.flatMap(({ value }) => value ?? [])) {
    const key = JSON.stringify([each.installation, each.isPackage, each.name]);
    if (!known.has(key)) known.set(key, each);
  }
  const matching = [...known.values()].filter(({ name }) => name.toLowerCase().includes(text.toLowerCase()));
  const exact = matching.filter(({ name }) => name.toLowerCase() === text.toLowerCase());
  if (exact.length === 1) return { address: exact[0].address };
  const failed = lists.find(({ status }) => status === "rejected");
  if (failed) throw failed.reason; // what it would have contained may match
  return { names: matching };
}

async function withJobs(installation, signal) {
  const { items } = await api.get(api.of(installation, "repositories"), {}, signal);
  return items.map(({ repo_full_name: name }) => ({
    installation, isPackage: false, name, address: link(installation, "repository", undefined, { repo: name }),
  }));
}

/** A repository may have a head, an environment or a package, but no jobs on the team's own runners. */
function released(installation, signal) {
  const load = async (view, entry) => {
    const items = await pages(api.of(installation, view), signal);
    return items.map((item) => ({ installation, isPackage: false, ...entry(item) }));
  };
  return [
    load("heads", ({ repo_full_name: name }) => ({ name, address: link(installation, "branch", name) })),
    load("environments", ({ repo_full_name: name }) => ({ name, address: link(installation, "environments", undefined, { repo: name }) })),
    load("packages", ({ name }) => ({ name, address: link(installation, "packages", name), isPackage: true })),
  ];
}

async function pages(path, signal) {
  const found = [];
  let cursor;
  do {
    const page = await api.get(path, { limit: PAGE, cursor }, signal);
    found.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor);
  return found;
}

async function orNothing(request, statuses) {
  try {
    return await request;
  } catch (error) {
    if (!statuses.includes(error.status)) throw error;
    return null;
  }
}

function open({ address, names }, wanted, context) {
  if (address) {
    queueMicrotask(() => redirect(address));
    return el("p", {}, "Found.");
  }
  if (!names.length) return nothing(wanted, context);
  return [
    list("Repositories", names.filter(({ isPackage }) => !isPackage)),
    list("Packages", names.filter(({ isPackage }) => isPackage)),
  ];
}

function list(title, names) {
  if (!names.length) return null;
  return [
    el("h2", {}, title),
    el("ul", { class: "findings" }, names.map((each) => el("li", {}, el("a", { href: each.address }, userText(each.name))))),
  ];
}

function nothing(wanted, { installation, me }) {
  const kinds = me.releases ? "job, run, repository or package" : "job, run or repository";
  return empty(
    "Nothing found",
    [`No ${kinds} matches `, userText(wanted), "."],
    el(
      "p",
      {},
      "Search for the id of a job or run, the URL of either on GitHub, or the name of a repository",
      me.releases ? " or package. " : ". ",
      "Runners and instances can't be searched for. ",
      "A job that ran before Runledger was set up, or whose retention has ended, isn't recorded.",
    ),
    el("a", { href: link(installation, "jobs") }, "View jobs"),
  );
}
