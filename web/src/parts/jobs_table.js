/* A table of jobs. */

import { link } from "../address.js";
import { el, userText } from "../dom.js";
import { age, dollars, duration, seconds } from "../format.js";
import { badge, tag } from "./badge.js";
import { table } from "./table.js";

export function jobsTable(jobs, installation) {
  return table(
    "Jobs",
    [
      { title: "Status", cell: (job) => [badge(job), job.was_interrupted && tag("interrupted", "bad")] },
      { title: "Job", grow: true, cell: (job) => name(job, installation) },
      { title: "Branch", wide: true, cell: (job) => el("span", { class: "cut" }, userText(job.head_branch)) },
      { title: "Runner", wide: true, cell: runner },
      { title: "Queued for", numeric: true, wide: true, cell: (job) => duration(queuedFor(job)) },
      { title: "Ran for", numeric: true, wide: true, cell: (job) => duration(ranFor(job)) },
      { title: "Cost", numeric: true, wide: true, cell: (job) => dollars(Number(job.usage_in_dollars ?? NaN)) },
      { title: "Created", numeric: true, cell: (job) => age(job.created_at) },
    ],
    jobs,
  );
}

function name(job, installation) {
  return [
    el(
      "a",
      { class: "row-link cut", id: `job-${job.job_id}`, href: link(installation, "job", job.job_id) },
      userText(job.job_name ?? job.job_id),
    ),
    el("small", { class: "cut" }, userText([job.repo_full_name, job.workflow_name].filter(Boolean).join(" · "))),
  ];
}

function runner(job) {
  return [
    el("span", { class: "cut" }, userText(job.pool_name ?? job.runner_name)),
    job.instance_type &&
      el("small", { class: "cut" }, userText([job.instance_type, job.instance_lifecycle].filter(Boolean).join(" · "))),
  ];
}

/** A job that hasn't started is still in the queue. */
export function queuedFor(job) {
  if (job.overall_queue_duration_in_ms !== undefined) return Number(job.overall_queue_duration_in_ms) / 1000;
  if (job.status === "completed") return NaN;
  return seconds(job.created_at, job.started_at ?? new Date().toISOString());
}

export function ranFor(job) {
  if (!job.started_at || job.conclusion === "skipped") return NaN;
  return seconds(job.started_at, job.completed_at ?? new Date().toISOString());
}
