/* A run's jobs over time: waiting in light bars, execution in solid bars, and the critical path underlined. */

import { el, replace, svg, userText } from "../dom.js";
import { duration } from "../format.js";
import { kindOf, named } from "../parts/badge.js";
import { awaitedApproval, awaitsApproval, queuedFor, ranFor } from "../parts/durations.js";
import { everySecond } from "../ticker.js";
import { scale, ticks } from "./scale.js";

const ROW = 30;
const TOP = 22;

/** From the creation of the first job to the end of the last, or until now. In milliseconds. */
export function span(jobs) {
  const start = Math.min(...jobs.map((job) => Date.parse(job.created_at)));
  return { start, end: Math.max(...jobs.map(endOf)) };
}

export function gantt(jobs, critical, href) {
  const drawing = el("div", { class: "gantt-bars" });
  const names = el(
    "ol",
    { class: "gantt-names" },
    jobs.map((job) =>
      el(
        "li",
        { class: critical.has(job.job_id) ? "critical" : "" },
        el("a", { href: href(job) }, userText(job.job_name ?? job.job_id)),
        el(
          "span",
          { class: "visually-hidden" },
          `, ${named(kindOf(job))}, ${described(job)}${critical.has(job.job_id) ? ", on the critical path" : ""}`,
        ),
      ),
    ),
  );
  const redraw = () => draw(drawing, jobs, critical);
  new ResizeObserver(redraw).observe(drawing);
  if (jobs.some((job) => job.status !== "completed")) everySecond(drawing, redraw);
  return el("div", { class: "gantt" }, names, drawing);
}

function draw(drawing, jobs, critical) {
  const width = drawing.clientWidth;
  if (!width) return;
  const { start, end } = span(jobs);
  const total = Math.max(1, (end - start) / 1000);
  const x = scale(0, total, 4, width - 76);
  const place = (moment) => x((moment - start) / 1000);
  const height = TOP + jobs.length * ROW;
  const marks = ticks(total, { seconds: true, wanted: Math.max(2, Math.floor(width / 130)) }).filter(
    (mark) => mark <= total,
  );
  replace(
    drawing,
    svg(
      "svg",
      { width, height, "aria-hidden": "true" },
      marks.map((mark) => [
        svg("line", { class: "rule", x1: x(mark), x2: x(mark), y1: TOP - 4, y2: height }),
        svg("text", { class: "axis", x: x(mark), y: 12, "text-anchor": mark ? "middle" : "start" }, duration(mark)),
      ]),
      jobs.map((job, row) => bar(job, TOP + row * ROW, place, critical.has(job.job_id))),
    ),
  );
}

function bar(job, top, place, isCritical) {
  if (job.conclusion === "skipped")
    return svg("text", { class: "axis", x: place(Date.parse(job.created_at)), y: top + 19 }, "skipped");
  const created = Date.parse(job.created_at);
  const ended = endOf(job);
  const end = place(ended);
  const rect = ({ from, until, kind }) =>
    svg("rect", {
      class: kind,
      x: place(from),
      y: top + 8,
      width: Math.max(2, place(until) - place(from)),
      height: 14,
      rx: 3,
    });
  return svg(
    "g",
    { class: isCritical ? "critical" : "" },
    svg("title", {}, `${job.job_name ?? job.job_id}: ${described(job)}`),
    segments(job, created, ended).map(rect),
    isCritical && svg("line", { class: "gantt-path", x1: place(created), x2: end, y1: top + 26, y2: top + 26 }),
    svg(
      "text",
      { class: "axis", x: end + 6, y: top + 19 },
      duration((ended - (job.started_at ? Date.parse(job.started_at) : created)) / 1000),
    ),
  );
}

/** Waiting for a runner, with an approval in between, and running. */
function segments(job, created, ended) {
  const started = job.started_at ? Date.parse(job.started_at) : ended;
  const requested = Math.min(started, job.approval_requested_at ? Date.parse(job.approval_requested_at) : started);
  const waited = awaitedApproval(job);
  const decided = Number.isFinite(waited) ? Math.min(started, requested + waited * 1000) : started;
  return [
    { from: created, until: requested, kind: "gantt-wait" },
    { from: requested, until: decided, kind: "gantt-approval" },
    { from: decided, until: started, kind: "gantt-wait" },
    { from: started, until: job.started_at ? ended : started, kind: `gantt-work fill-${kindOf(job)}`, always: job.started_at },
  ].filter(({ from, until, always }) => until > from || always);
}

function endOf(job) {
  return job.completed_at ? Date.parse(job.completed_at) : Date.now();
}

function described(job) {
  const approval = awaitedApproval(job);
  const queued = queuedFor(job);
  const ran = ranFor(job);
  const parts = [
    Number.isFinite(approval) && `${awaitsApproval(job) ? "has awaited" : "awaited"} an approval for ${duration(approval)}`,
    Number.isFinite(queued) && `queued for ${duration(queued)}`,
    Number.isFinite(ran) && `ran for ${duration(ran)}`,
  ];
  return parts.filter(Boolean).join(", ") || "not started";
}
