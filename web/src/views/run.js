/* A run: its jobs over time, and the critical path. */

import { link } from "../address.js";
import * as api from "../api.js";
import { criticalPath } from "../charts/critical_path.js";
import { gantt, span } from "../charts/gantt.js";
import { el, userText } from "../dom.js";
import { count, dollars, duration, running, unpriced } from "../format.js";
import { live } from "../live.js";
import { badge } from "../parts/badge.js";
import { costOf, unpricedSeconds } from "../parts/durations.js";
import { jobsTable } from "../parts/jobs_table.js";
import { choices, commit, outward, panel, tile } from "../parts/panel.js";
import { empty, notRecorded } from "../parts/states.js";

const OPEN_MS = 10_000;
const DONE_MS = 60_000;
const FAILURES = new Set(["failure", "timed_out", "startup_failure"]);

export const run = {
  title: ({ id }) => `Run ${id}`,
  isComplete: ({ id }) => /^\d+$/.test(id),
  draw(context) {
    const { installation, id, query } = context;
    const load = (signal) => api.get(api.of(installation, "runs", id), { run_attempt: query.attempt }, signal);
    return live(el("div", { class: "stack" }), {
      context,
      every: ({ run: found }) => (found.status === "completed" ? DONE_MS : OPEN_MS),
      load,
      draw: (response) => show(response, context),
      next: missing,
    });
  },
};

function missing({ installation, id, query }) {
  return notRecorded(
    query.attempt && [link(installation, "run", id), "View the newest attempt"],
    [link(installation, "lookup", undefined, { q: `run ${id}` }), "Search all installations"],
    [link(installation, "jobs"), "View jobs"],
  );
}

function show({ run: found, jobs, attempts }, { installation, rename }) {
  rename(found.workflow_name ?? `Run ${found.run_id}`);
  const carriedOver = jobs.filter((job) => job.carried_over);
  const own = jobs
    .filter((job) => !job.carried_over)
    .sort((one, other) => skipped(one) - skipped(other) || begin(one) - begin(other));
  const path = criticalPath(own);
  const href = (job) => link(installation, "job", job.job_id);
  return [
    summary(found, attempts ?? [], installation),
    tiles(found, own, carriedOver),
    panel(
      "Jobs over time",
      own.length
        ? [gantt(own, new Set(path.map((job) => job.job_id)), href), legend(path, own)]
        : empty("No jobs yet", "No webhook for a job of this attempt has arrived."),
    ),
    jobs.length > 0 && panel("Jobs", jobsTable([...own, ...carriedOver], installation)),
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
      commit(found.head_sha, found.run_html_url),
      outward(found.run_html_url, "Open on GitHub"),
    ),
    attempts.length > 1 && el("div", { class: "statuses" }, choices("Attempt", options, String(found.run_attempt))),
  ];
}

/** The run's counters include the jobs that were carried over. */
function tiles(found, jobs, carriedOver) {
  const number = (counter, matches) =>
    count(
      found[counter] === undefined
        ? jobs.filter(matches).length
        : Math.max(0, found[counter] - carriedOver.filter(matches).length),
    );
  const unknown = jobs.map(unpricedSeconds).reduce((sum, each) => sum + each, 0);
  return el(
    "div",
    { class: "tiles" },
    tile("Jobs completed", `${number("completed_jobs", completed)} of ${number("total_jobs", () => true)}`, {
      note: carriedOver.length > 0 && `${count(carriedOver.length)} more carried over`,
    }),
    tile("Failed", number("failed_jobs", failed)),
    tile("Total duration", total(jobs)),
    tile("Cost", cost(jobs), { note: [isGrowing(jobs) && "so far", unpriced(unknown)].filter(Boolean).join(", ") }),
  );
}

function cost(jobs) {
  const known = () => jobs.map(costOf).filter(Number.isFinite);
  if (!known().length) return dollars(NaN);
  const sum = () => known().reduce((before, each) => before + each, 0);
  return isGrowing(jobs) ? running(sum, dollars) : dollars(sum());
}

function isGrowing(jobs) {
  return jobs.some((job) => job.status !== "completed" && Number.isFinite(costOf(job)));
}

function completed(job) {
  return job.status === "completed";
}

function failed(job) {
  return FAILURES.has(job.conclusion);
}

/** It ticks while a job is open. */
function total(jobs) {
  if (!jobs.length) return duration(NaN);
  const passed = () => {
    const { start, end } = span(jobs);
    return (end - start) / 1000;
  };
  return jobs.some((job) => job.status !== "completed") ? running(passed) : duration(passed());
}

function legend(path, jobs) {
  const names = path.flatMap((job, at) => [at > 0 && " → ", userText(job.job_name ?? job.job_id)]);
  return el(
    "p",
    { class: "gantt-legend" },
    el("span", {}, el("i", { class: "swatch swatch-wait" }), "waiting for a runner"),
    jobs.some((job) => job.approval_requested_at) &&
      el("span", {}, el("i", { class: "swatch swatch-waiting" }), "awaiting approval"),
    path.length > 0 &&
      el("span", { class: "gantt-chain" }, el("i", { class: "swatch swatch-path" }), "critical path: ", names),
  );
}
