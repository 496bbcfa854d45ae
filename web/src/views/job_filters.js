/* Filters of the job list. They are part of the URL, and the API evaluates them. */

import { go, link } from "../address.js";
import { loadCounts } from "../counts.js";
import { el } from "../dom.js";
import { count } from "../format.js";
import { live } from "../live.js";
import { CONCLUSIONS, named, STATUSES } from "../parts/badge.js";
import { choices } from "../parts/panel.js";

const REFRESH_MS = 20_000;
const STATUS = "in_progress";
/** The list behind the number of jobs that completed within 24 hours. */
export const COMPLETED_24H = { range_of: "completed", since: "24h" };
const RANGES_OF = { "": "Creation", completed: "Completion" };
const TIMES = { "": "Any time", "1h": "Last hour", "24h": "Last 24 hours", "7d": "Last 7 days", "30d": "Last 30 days" };

/** The query of the API. Without another filter, running jobs are listed. */
export function asParameters(query) {
  return {
    status: query.status || (query.repo || query.run ? "" : query.conclusion ? "completed" : STATUS),
    repo: query.repo,
    run_id: query.run,
    run_attempt: query.run && query.attempt,
    conclusion: query.conclusion,
    range_of: canRangeOverCompletion(query) ? query.range_of : "",
    since: query.since,
  };
}

/** The API can filter by completion time only for completed jobs, and not for those of a run. */
function canRangeOverCompletion({ status, repo, run, conclusion }) {
  return !run && (status === "completed" || (!status && Boolean(repo || conclusion)));
}

/** The API counts jobs per installation only, so counts are hidden when another filter is set. */
export function statuses(context) {
  const { installation, query } = context;
  const slot = el("div", { class: "statuses" });
  const options = (counts) => STATUSES.map((status) => option(context, status, counts));
  if (query.repo || query.run) {
    const any = { value: "", text: "Any status", href: address(context, { status: "" }) };
    slot.append(choices("Status", [any, ...options({})], query.status ?? ""));
    return slot;
  }
  const draw = (counts) => choices("Status", options(counts), asParameters(query).status);
  return live(slot, { context, every: REFRESH_MS, load: loadCounts(installation), draw, skeleton: () => draw({}) });
}

function option(context, status, counts) {
  const done = status === "completed";
  const number = done ? counts.completed_24h : counts[status];
  const isCounted = Number.isFinite(number);
  // An open job has no conclusion and no completion time.
  const changes = done ? isCounted && COMPLETED_24H : { conclusion: "", range_of: "" };
  return {
    value: status,
    text: named(status),
    kind: status,
    href: address(context, { status, ...changes }),
    note: isCounted && el("span", { class: "number" }, count(number), done && " in 24 h"),
  };
}

export function filters(context) {
  const { query } = context;
  const apply = (event) => {
    event.preventDefault();
    const given = Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, value.trim()]));
    go(address(context, { ...given, ...(given.conclusion && { status: "completed" }), attempt: "" }));
  };
  const chosen = query.repo || query.run || query.since || query.conclusion || query.range_of;
  const results = [["", "Any result"], ...CONCLUSIONS.map((each) => [each, named(each)])];
  const form = el(
    "form",
    { class: "filters", submit: apply },
    text("repo", "Repository", query, { placeholder: "owner/name", pattern: String.raw`\s*[^\s\/]+\/[^\s\/]+\s*`, title: "The owner and name of a repository, such as acme/web" }),
    text("run", "Run", query, { placeholder: "id", inputmode: "numeric", pattern: "[0-9]*", title: "The number in the URL of a run" }),
    canRangeOverCompletion(query) && choice("range_of", "Time of", query, Object.entries(RANGES_OF), apply),
    choice("since", "Time", query, Object.entries(TIMES), apply),
    choice("conclusion", "Result", query, results, apply),
    el("button", { type: "submit" }, "Filter"),
    chosen && el("a", { class: "plain", href: address({ ...context, query: {} }, { status: query.status }) }, "Clear"),
  );
  return form;
}

function address({ installation, query }, changes) {
  return link(installation, "jobs", undefined, { ...query, ...changes, cursor: "" });
}

function labelled(label, field) {
  return el("label", {}, el("span", {}, label), field);
}

function text(name, label, query, properties) {
  const common = { id: `filter-${name}`, name, value: query[name], autocomplete: "off", spellcheck: "false" };
  return labelled(label, el("input", { ...common, ...properties }));
}

function choice(name, label, query, options, change) {
  const shown = options.map(([value, caption]) => el("option", { value, selected: value === (query[name] ?? "") }, caption));
  return labelled(label, el("select", { id: `filter-${name}`, name, change }, shown));
}
