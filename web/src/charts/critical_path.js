/* The critical path: the jobs that determined when a run finished. */

// GitHub's timestamps have a resolution of one second, and a dependent job is created shortly after its dependency ends.
const SLACK_MS = 2000;

/** GitHub doesn't send dependencies: a job's predecessor is assumed to be the last job that ended before it was created. */
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
