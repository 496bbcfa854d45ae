/* How long a job waited, ran and was in use, as docs/definitions.md defines it. Durations are in seconds; NaN: unknown. */

import { dollars, duration, running, seconds, unpriced } from "../format.js";

const isOpen = (job) => job.status !== "completed";
const MINIMUM_SECONDS = 60; // that EC2 charges for
const now = () => new Date().toISOString();

/** Until now, while a person hasn't decided. Unknown if the job went on and the decision wasn't reported. */
export function awaitedApproval(job) {
  const until = job.approved_at ?? job.rejected_at ?? (awaitsApproval(job) ? now() : null);
  return Math.max(0, seconds(job.approval_requested_at, until));
}

export function awaitsApproval(job) {
  return job.status === "waiting" && !job.approved_at && !job.rejected_at;
}

/** Without the time of an approval. A job that hasn't started is still in the queue, unless it awaits an approval. */
export function queuedFor(job) {
  if (job.carried_over) return NaN;
  if (job.overall_queue_duration_in_ms !== undefined) return Number(job.overall_queue_duration_in_ms) / 1000;
  if (!isOpen(job) || awaitsApproval(job)) return NaN;
  const queued = seconds(job.created_at, job.started_at ?? now());
  return Math.max(0, job.approval_requested_at || job.approved_at ? queued - awaitedApproval(job) : queued);
}

export function ranFor(job) {
  if (!job.started_at || job.conclusion === "skipped" || job.carried_over) return NaN;
  return Math.max(0, seconds(job.started_at, job.completed_at ?? now()));
}

/** Text, or a node that ticks while the duration still grows. */
export function shownQueue(job) {
  return isOpen(job) && !job.started_at && !awaitsApproval(job) ? running(() => queuedFor(job)) : duration(queuedFor(job));
}

export function shownRun(job) {
  return isOpen(job) && job.started_at ? running(() => ranFor(job)) : duration(ranFor(job));
}

export function shownApproval(job) {
  return awaitsApproval(job) ? running(() => awaitedApproval(job)) : duration(awaitedApproval(job));
}

/** A carried-over job costs nothing, because the original job was charged. A running job is charged until now, or until its machine ended. */
export function costOf(job) {
  if (job.carried_over) return 0;
  if (!isOpen(job) || !job.started_at || job.usage_in_seconds !== undefined) return Number(job.usage_in_dollars ?? NaN);
  return (Math.max(MINIMUM_SECONDS, ranFor(job)) / 3600) * Number(job.price_per_hour ?? NaN);
}

/** Machine time without a price, until now for a running job. */
export function unpricedSeconds(job) {
  if (Number.isFinite(costOf(job))) return 0;
  return Number(job.usage_in_seconds ?? (isOpen(job) ? ranFor(job) || 0 : 0));
}

export function shownCost(job) {
  if (isOpen(job) && Number.isFinite(costOf(job))) return { cost: running(() => costOf(job), dollars), note: "so far" };
  const time = () => unpricedSeconds(job);
  return { cost: dollars(costOf(job)), note: isOpen(job) && time() > 0 ? running(time, unpriced) : unpriced(time()) };
}
