/* The moments of a job's life, in order, as far as it has come. */

/** GitHub's own moments always count; ours only where they lie between them: a webhook may come after all is over. */
export function milestones(job, events) {
  const attached = events
    .filter((event) => event.event_type === "runner_attached" && !event.duplicate)
    .at(-1)?.timestamp;
  const life = [
    { name: "Created", at: job.created_at },
    { name: "Received", at: job.received_at, ours: true },
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
