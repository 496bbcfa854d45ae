/* Statistics of a repository or installation: figures, charts and rankings. */

import { link } from "../address.js";
import * as api from "../api.js";
import { overTime } from "../charts/over_time.js";
import { el, userText } from "../dom.js";
import { count, dollars, duration, percent, plural, roundDollars, unpriced } from "../format.js";
import { choices, panel, tile } from "../parts/panel.js";
import { empty, ways } from "../parts/states.js";
import { table } from "../parts/table.js";

export const RANGES = { "24h": "24 hours", "7d": "7 days", "30d": "30 days" };
const RANGE = "24h";
const RANKED = 6;

export function range(query) {
  return RANGES[query.range] ? query.range : RANGE;
}

export function rangeChoices({ installation, view, id, query }) {
  const options = Object.entries(RANGES).map(([value, text]) => ({
    value,
    text,
    href: link(installation, view, id, { ...query, range: value }),
  }));
  return choices("Range", options, range(query));
}

export function loadStatistics({ installation, query, repo }) {
  return (signal) => api.get(api.of(installation, "statistics"), { repo, since: range(query) }, signal);
}

export function drawStatistics(statistics, context) {
  const { query } = context;
  if (!statistics.jobs && !completed(statistics) && !statistics.usage_in_seconds)
    return [
      tiles(statistics, context),
      panel(
        null,
        empty("No jobs in this range", `No job was created or ran in the last ${RANGES[range(query)]}.`, wider(context)),
      ),
    ];
  return [tiles(statistics, context), truncationNotice(statistics), charts(statistics), rankings(statistics, context)];
}

/** Where older jobs are, if there are any. */
function wider({ installation, view, id, query }) {
  const longest = Object.keys(RANGES).at(-1);
  return ways(
    range(query) !== longest && [
      link(installation, view, id, { ...query, range: longest }),
      `Show the last ${RANGES[longest]}`,
    ],
    query.repo && [link(installation, "jobs", undefined, { repo: query.repo }), "View jobs of any time"],
    query.repo && [link(installation, "repositories"), "View all repositories"],
  );
}

function completed({ by_conclusion: conclusions }) {
  return Object.values(conclusions ?? {}).reduce((sum, each) => sum + each, 0);
}

function tiles(statistics, context) {
  const { queue_seconds: queue, duration_seconds: took, spot } = statistics;
  return el(
    "div",
    { class: "tiles" },
    tile("Success rate", percent(statistics.success_rate), { note: [denominator(statistics), failures(statistics, context)] }),
    tile("Queue p50", duration(queue?.p50), { note: percentiles(queue) }),
    tile("Duration p50", duration(took?.p50), { note: percentiles(took) }),
    tile("Spend", dollars(statistics.usage_in_dollars), { note: machineTime(statistics) }),
    tile("Spot savings", dollars(spot?.savings_in_dollars), { note: `spot share ${percent(spot?.share)}` }),
    tile("Interruptions", count(statistics.interruptions), { note: `of ${plural(completed(statistics), "completed job")}` }),
  );
}

function denominator({ succeeded = 0, failed = 0 }) {
  return `${count(succeeded)} of ${count(succeeded + failed)} jobs that succeeded or failed`;
}

function failures({ failed }, { installation, query }) {
  if (!failed) return null;
  const since = range(query);
  const filters = { repo: query.repo, status: "completed", conclusion: "failure", range_of: "completed", since };
  return [" · ", el("a", { href: link(installation, "jobs", undefined, filters) }, "View failures")];
}

/** Percentiles are about jobs that completed in the range and had started. */
function percentiles(known) {
  return `p90 ${duration(known?.p90)} · ${plural(known?.count ?? 0, "job")} that ran`;
}

function machineTime({ usage_in_seconds: used, unpriced_seconds: unknown }) {
  return [`${duration(used)} of machine time`, unpriced(unknown)].filter(Boolean).join(", ");
}

function truncationNotice({ truncated }) {
  return (
    truncated &&
    el(
      "p",
      { class: "notice" },
      "The range has too many jobs to read at once. Only the newest are counted. Choose a shorter range.",
    )
  );
}

function charts({ series }) {
  const starts = series.map((each) => each.start);
  const bucket = starts.length > 1 && Date.parse(starts[1]) - Date.parse(starts[0]) >= 86_400_000 ? "day" : "hour";
  const of = (name) => series.map((each) => each[name] ?? null);
  const both = (name) => [
    { name: "p50", kind: "p50", values: of(`${name}_p50`) },
    { name: "p90", kind: "p90", values: of(`${name}_p90`) },
  ];
  const work = [
    { name: "succeeded", kind: "success", values: of("succeeded") },
    { name: "failed", kind: "failure", values: of("failed") },
    { name: "other", kind: "other", values: series.map((each) => each.completed - each.succeeded - each.failed) },
  ];
  const spend = [{ name: "spend", kind: "accent", values: of("usage_in_dollars") }];
  return el(
    "div",
    { class: "charts" },
    panel(
      null,
      overTime({ label: "Queue time", starts, series: both("queue"), format: duration, seconds: true, bucket }),
    ),
    panel(
      null,
      overTime({ label: "Job duration", starts, series: both("duration"), format: duration, seconds: true, bucket }),
    ),
    panel(null, overTime({ label: `Completed jobs per ${bucket}`, starts, series: work, format: count, shape: "bars", bucket })),
    panel(
      null,
      overTime({
        label: `Spend per ${bucket}`,
        starts,
        series: spend,
        format: dollars,
        axis: roundDollars,
        shape: "bars",
        bucket,
        note: (at) => unpriced(series[at].unpriced_seconds),
      }),
    ),
  );
}

function repository(name, installation, { range: chosen }) {
  if (!name) return userText(name);
  const href = link(installation, "repository", undefined, { repo: name, range: chosen });
  return el("a", { href }, userText(name));
}

/** Jobs of different repositories are kept apart, so the repository is shown unless all are of the same. */
function rankings({ slowest = [], costliest = [] }, { installation, query }) {
  const name = {
    title: "Job",
    grow: true,
    cell: (row) => [
      el(
        "span",
        { class: "cut" },
        userText(row.job_name ?? row.workflow_name),
        row.job_name && el("span", { class: "aside" }, userText(row.workflow_name)),
      ),
      !query.repo && el("small", { class: "cut" }, repository(row.repo_full_name, installation, query)),
    ],
  };
  const jobs = { title: "Jobs", numeric: true, cell: (row) => count(row.jobs) };
  const slow = { title: "p90", numeric: true, cell: (row) => duration(row.p90_seconds) };
  const costly = { title: "Spend", numeric: true, cell: (row) => dollars(row.usage_in_dollars) };
  return el(
    "div",
    { class: "charts" },
    slowest.length > 0 && panel("Slowest", table("Slowest jobs", [name, jobs, slow], slowest.slice(0, RANKED))),
    costliest.length > 0 &&
      panel("Most expensive", table("Most expensive jobs", [name, jobs, costly], costliest.slice(0, RANKED))),
  );
}
