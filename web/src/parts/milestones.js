/* The milestones of a job, in order. */

/** GitHub's timestamps are always kept. Runledger's own are kept only if they fit in between: webhooks can arrive late. */
export function milestones(job, events) {
  const attached = events
    .filter((event) => event.event_type === "runner_attached" && !event.duplicate)
    .at(-1)?.timestamp;
  const life = [
    { name: "Created", at: job.created_at },
    { name: "Received", at: job.received_at, ours: true },
    { name: "Approval requested", at: job.approval_requested_at },
    { name: "Approved", at: job.approved_at },
    { name: "Rejected", at: job.approved_at ? null : job.rejected_at },
    { name: "Scheduled", at: job.scheduled_at, ours: true },
    { name: "Attached", at: attached, ours: true },
    { name: "Started", at: job.conclusion === "skipped" ? null : job.started_at },
    { name: "Completed", at: job.completed_at },
  ].filter(({ at }) => at);
  const kept = [];
  for (const [place, moment] of life.entries()) {
    const later = life.slice(place).find(({ ours }) => !ours);
    const inOrder = moment.at >= (kept.at(-1)?.at ?? "") && (!later || moment.at <= later.at);
    if (inOrder || !moment.ours) kept.push(moment);
  }
  return kept;
}
