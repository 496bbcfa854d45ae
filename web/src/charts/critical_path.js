/* Which jobs decided when a run ended. */

// GitHub's times are whole seconds, and a job that needs another is created moments after that one's end.
const SLACK_MS = 2000;

/** GitHub does not tell which job needed which: each job's predecessor is taken to be the last to end before it was created. */
export function criticalPath(jobs) {
  const path = [];
  let next = last(jobs, (job) => finished(job) ?? Date.now());
  while (next) {
    path.unshift(next);
    const created = Date.parse(next.created_at) + SLACK_MS;
    const earlier = jobs.filter((job) => !path.includes(job) && finished(job) && finished(job) <= created);
    next = last(earlier, finished);
  }
  return path;
}

function finished(job) {
  return job.completed_at && job.conclusion !== "skipped" ? Date.parse(job.completed_at) : null;
}

function last(jobs, moment) {
  return jobs
    .filter((job) => job.conclusion !== "skipped")
    .reduce((latest, job) => (latest && moment(latest) >= moment(job) ? latest : job), null);
}
