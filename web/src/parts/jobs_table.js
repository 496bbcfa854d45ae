/* A table of jobs. */

import { link } from "../address.js";
import { el, userText } from "../dom.js";
import { age } from "../format.js";
import { badge, tags } from "./badge.js";
import { shownCost, shownQueue, shownRun } from "./durations.js";
import { table } from "./table.js";

export function jobsTable(jobs, installation) {
  return table(
    "Jobs",
    [
      { title: "Status", cell: (job) => [badge(job), tags(job)] },
      { title: "Job", grow: true, cell: (job) => name(job, installation) },
      { title: "Branch", wide: true, cell: (job) => el("span", { class: "cut" }, userText(job.head_branch)) },
      { title: "Runner", wide: true, cell: runner },
      { title: "Queued for", numeric: true, wide: true, cell: shownQueue },
      { title: "Ran for", numeric: true, wide: true, cell: shownRun },
      { title: "Cost", numeric: true, wide: true, cell: cost },
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

function cost(job) {
  const { cost: amount, note } = shownCost(job);
  return [amount, note && el("small", {}, note)];
}

/** A carried-over job names the runner of the original. */
function runner(job) {
  if (job.carried_over) return "–";
  return [
    el("span", { class: "cut" }, userText(job.pool_name ?? job.runner_name)),
    job.instance_type &&
      el("small", { class: "cut" }, userText([job.instance_type, job.instance_lifecycle].filter(Boolean).join(" · "))),
  ];
}
