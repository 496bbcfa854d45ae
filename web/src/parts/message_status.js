/* Badges of messages and receivers. */

import { el, userText } from "../dom.js";
import { local, sentence } from "../format.js";
import { mark, named } from "./badge.js";

export const MESSAGE_STATUSES = ["created", "queued", "processing", "completed", "failed"];
export const OWN_TYPES = ["runledger.message", "runledger.digest", "runledger.reminder", "runledger.test"];
/** The types of feed events. Custom events have other types. */
export const EVENT_TYPES = {
  Jobs: ["job.failed", "job.stuck", "job.interrupted", "job.queued", "job.started", "job.completed", "job.reconciled"],
  Runs: ["run.failed", "run.completed"],
  Approvals: ["approval.requested", "approval.forgotten", "approval.given", "approval.refused"],
  Runners: ["runner.requested", "runner.orphaned", "runner.cleaned"],
  Deployments: ["deployment.created", "deployment.approved", "deployment.rejected"],
  Heads: ["head.turned_red", "head.turned_green", "environment.changed"],
  Releases: ["release.published", "release.completed", "release.failed"],
};

const KINDS = { created: "queued", processing: "in_progress" };
const HEALTH = { healthy: "success", slow: "waiting", failing: "failure", paused: "failure", unknown: "other" };
const TEXTS = { unknown: "No attempts yet", paused: "Failing, paused" };

export function hasEnded({ status }) {
  return status === "completed" || status === "failed";
}

export function kindOfMessage(status) {
  return KINDS[status] ?? status;
}

/** A message that waits for another attempt is still `processing`. */
export function messageBadge(message) {
  if (!hasEnded(message) && message.next_attempt_at && message.error_message) return mark("waiting", "Retrying");
  return mark(kindOfMessage(message.status), named(message.status));
}

export function healthBadge({ enabled, health }) {
  if (!enabled) return mark("other", "Disabled");
  const status = health?.status ?? "unknown";
  return mark(HEALTH[status], TEXTS[status] ?? named(status));
}

/** Why a receiver isn't healthy; null if it is. */
export function healthProblem({ enabled, health }) {
  if (!enabled || !health?.failures) return null;
  const until = health.paused_until && health.status === "paused" ? ` Paused until ${local(health.paused_until)}.` : "";
  const times = health.failures === 1 ? "The last attempt failed" : `The last ${health.failures} attempts failed`;
  return el("small", {}, userText(`${times}.${until} ${health.last_error ? sentence(health.last_error) : ""}`, { title: null }));
}
