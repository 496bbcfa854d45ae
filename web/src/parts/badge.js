/* Status badges: a colour and a word, because not everyone can tell colours apart. */

import { el, userText } from "../dom.js";

export const STATUSES = ["queued", "waiting", "scheduled", "in_progress", "completed"];
export const CONCLUSIONS = ["success", "failure", "cancelled", "skipped", "timed_out", "startup_failure"];
const KINDS = new Set([
  ...STATUSES,
  ...CONCLUSIONS,
  "running",
  "finished",
  "failed",
  "requested",
  "active",
  "cleaning",
]);
const BAD = new Set(["failure", "timed_out", "startup_failure", "action_required"]);

export function kindOf(job) {
  const kind = job.status === "completed" ? (job.conclusion ?? "completed") : job.status;
  return BAD.has(kind) ? "failure" : kind;
}

export function named(kind) {
  return String(kind)
    .replaceAll("_", " ")
    .replace(/^./, (first) => first.toUpperCase());
}

export function badge(job) {
  const status = job.status === "completed" ? (job.conclusion ?? "completed") : job.status;
  return mark(kindOf(job), named(status));
}

/** What a badge doesn't show: a re-run carried the job over, or its runner was interrupted. */
export function tags(job) {
  return [job.carried_over && tag("carried over"), job.was_interrupted && tag("interrupted", "bad")];
}

/** A pass that has finished shows its outcome. */
export function passBadge({ status, outcome }) {
  if (status === "finished" && outcome === "errors") return mark("failed", "Finished with errors");
  if (status === "finished" && outcome === "unfinished") return mark("finished", "Ran out of time");
  return mark(status);
}

export function mark(kind, text = named(kind)) {
  return el("span", { class: `badge kind-${KINDS.has(kind) ? kind : "other"}` }, userText(text));
}

export function tag(text, kind = "") {
  return el("span", { class: `tag ${kind}` }, userText(text));
}
