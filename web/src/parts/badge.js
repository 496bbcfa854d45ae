/* A job's status and conclusion: colour says it at a glance, the word says it to everybody. */

import { el, words } from "../dom.js";

export const STATUSES = ["queued", "waiting", "scheduled", "in_progress", "completed"];
export const CONCLUSIONS = ["success", "failure", "cancelled", "skipped", "timed_out"];
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
  const said = job.status === "completed" ? (job.conclusion ?? "completed") : job.status;
  return mark(kindOf(job), named(said));
}

export function mark(kind, text = named(kind)) {
  return el("span", { class: `badge kind-${KINDS.has(kind) ? kind : "other"}` }, words(text));
}

export function tag(text, kind = "") {
  return el("span", { class: `tag ${kind}` }, words(text));
}
