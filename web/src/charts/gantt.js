/* A run's jobs over time: queue time in light bars, execution time in solid bars, and the critical path underlined. */

import { el, replace, svg, userText } from "../dom.js";
import { duration, seconds } from "../format.js";
import { kindOf, named } from "../parts/badge.js";
import { scale, ticks } from "./scale.js";

const ROW = 30;
const TOP = 22;

export function gantt(jobs, critical, { start, end, href }) {
  const drawing = el("div", { class: "gantt-bars" });
  const total = Math.max(1, (end - start) / 1000);
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
  new ResizeObserver(() => draw(drawing, { jobs, critical, start, total })).observe(drawing);
  return el("div", { class: "gantt" }, names, drawing);
}

function draw(drawing, { jobs, critical, start, total }) {
  const width = drawing.clientWidth;
  if (!width) return;
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
  const ended = job.completed_at ? Date.parse(job.completed_at) : Date.now();
  const started = job.started_at ? Date.parse(job.started_at) : ended;
  const end = place(ended);
  const rect = (from, until, kind) =>
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
    started > created && rect(created, started, "gantt-wait"),
    job.started_at && rect(started, ended, `gantt-work fill-${kindOf(job)}`),
    isCritical && svg("line", { class: "gantt-path", x1: place(created), x2: end, y1: top + 26, y2: top + 26 }),
    svg(
      "text",
      { class: "axis", x: end + 6, y: top + 19 },
      duration((ended - (job.started_at ? started : created)) / 1000),
    ),
  );
}

function described(job) {
  const waited = seconds(job.created_at, job.started_at ?? job.completed_at);
  const worked = seconds(job.started_at, job.completed_at);
  return (
    [Number.isFinite(waited) && `queued for ${duration(waited)}`, Number.isFinite(worked) && `ran for ${duration(worked)}`]
      .filter(Boolean)
      .join(", ") || "not started"
  );
}
