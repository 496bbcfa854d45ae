/* A run: its jobs over time, and the critical path. */

import { link } from "../address.js";
import * as api from "../api.js";
import { criticalPath } from "../charts/critical_path.js";
import { gantt } from "../charts/gantt.js";
import { el, userText } from "../dom.js";
import { count, dollars, duration } from "../format.js";
import { live } from "../live.js";
import { badge } from "../parts/badge.js";
import { jobsTable } from "../parts/jobs_table.js";
import { choices, outward, panel, tile } from "../parts/panel.js";
import { empty } from "../parts/states.js";

const OPEN_MS = 10_000;
const DONE_MS = 60_000;

export const run = {
  title: ({ id }) => `Run ${id}`,
  draw(context) {
    const { installation, id, query } = context;
    const load = (signal) => api.get(api.of(installation, "runs", id), { run_attempt: query.attempt }, signal);
    return live(el("div", { class: "stack" }), {
      context,
      every: ({ run: found }) => (found.status === "completed" ? DONE_MS : OPEN_MS),
      load,
      draw: (response) => show(response, context),
    });
  },
};

function show({ run: found, jobs, attempts }, { installation, rename }) {
  rename(found.workflow_name ?? `Run ${found.run_id}`);
  const ordered = [...jobs].sort((one, other) => skipped(one) - skipped(other) || begin(one) - begin(other));
  const path = criticalPath(ordered);
  const start = Math.min(...ordered.map((job) => Date.parse(job.created_at)));
  const end = Math.max(...ordered.map((job) => (job.completed_at ? Date.parse(job.completed_at) : Date.now())));
  const href = (job) => link(installation, "job", job.job_id);
  return [
    summary(found, attempts ?? [], installation),
    tiles(found, jobs, (end - start) / 1000),
    panel(
      "Jobs over time",
      ordered.length
        ? [gantt(ordered, new Set(path.map((job) => job.job_id)), { start, end, href }), legend(path)]
        : empty("No jobs yet", "No webhook for a job of this attempt has arrived."),
    ),
    ordered.length > 0 && panel("Jobs", jobsTable(ordered, installation)),
  ];
}

function skipped(job) {
  return Number(job.conclusion === "skipped");
}

function begin(job) {
  return Date.parse(job.started_at ?? job.created_at);
}

function summary(found, attempts, installation) {
  const options = attempts.map((attempt) => ({
    value: String(attempt),
    text: `Attempt ${attempt}`,
    href: link(installation, "run", found.run_id, { attempt }),
  }));
  return [
    el(
      "p",
      { class: "summary" },
      badge(found),
      userText(`Run ${found.run_id}`),
      found.repo_full_name &&
        el(
          "a",
          { href: link(installation, "repository", undefined, { repo: found.repo_full_name }) },
          userText(found.repo_full_name),
        ),
      found.head_branch && el("span", { class: "cut" }, userText(found.head_branch)),
      found.head_sha && userText(found.head_sha.slice(0, 12), { class: "mono" }),
      outward(found.run_html_url, "Open on GitHub"),
    ),
    attempts.length > 1 && el("div", { class: "statuses" }, choices("Attempt", options, String(found.run_attempt))),
  ];
}

function tiles(found, jobs, took) {
  const spend = jobs.map((job) => Number(job.usage_in_dollars ?? NaN)).filter(Number.isFinite);
  return el(
    "div",
    { class: "tiles" },
    tile("Jobs completed", `${count(found.completed_jobs ?? 0)} of ${count(found.total_jobs ?? jobs.length)}`),
    tile("Failed", count(found.failed_jobs ?? 0)),
    tile("Total duration", duration(jobs.length ? took : NaN)),
    tile("Cost", spend.length ? dollars(spend.reduce((sum, each) => sum + each, 0)) : "–"),
  );
}

function legend(path) {
  const names = path.flatMap((job, at) => [at > 0 && " → ", userText(job.job_name ?? job.job_id)]);
  return el(
    "p",
    { class: "gantt-legend" },
    el("span", {}, el("i", { class: "swatch swatch-wait" }), "waiting for a runner"),
    path.length > 0 &&
      el("span", { class: "gantt-chain" }, el("i", { class: "swatch swatch-path" }), "critical path: ", names),
  );
}
