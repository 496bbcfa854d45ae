/* A job's phases as one bar: the time between its milestones. */

import { el, svg } from "../dom.js";
import { duration, seconds, time } from "../format.js";
import { milestones } from "./milestones.js";

const TO = {
  Received: ["Webhook delivery", "quiet"],
  Scheduled: ["Waiting for a runner", "queued"],
  Attached: ["Runner starting", "scheduled"],
  Started: ["Waiting to start", "scheduled"],
  Completed: ["Running", "in_progress"],
};
const NEVER_STARTED = ["Never started", "queued"];
const OPEN = {
  queued: ["Queued", "queued"],
  waiting: ["Waiting for approval", "waiting"],
  scheduled: ["Runner starting", "scheduled"],
  in_progress: ["Running", "in_progress"],
};
const MIN_SHARE = 0.012; // keeps short phases visible

export function phases(job, events) {
  const parts = gaps(job, milestones(job, events));
  const whole = parts.reduce((sum, part) => sum + part.seconds, 0);
  if (!(whole > 0)) return el("p", { class: "hint" }, "Shorter than GitHub's timestamps can measure (1 s).");
  const shares = parts.map((part) => Math.max(part.seconds / whole, MIN_SHARE));
  const total = shares.reduce((sum, share) => sum + share, 0);
  let left = 0;
  const bars = parts.map((part, at) => {
    const width = (shares[at] / total) * 100;
    const bar = svg(
      "rect",
      { class: `fill-${part.kind}`, x: `${left}%`, width: `${Math.max(width - 0.25, 0.4)}%`, height: 14, rx: 3 },
      svg("title", {}, `${part.name}: ${duration(part.seconds)}`),
    );
    left += width;
    return bar;
  });
  return [
    svg("svg", { class: "phase-bar", width: "100%", height: 14, "aria-hidden": "true" }, bars),
    el(
      "ol",
      { class: "phases" },
      parts.map((part) =>
        el(
          "li",
          {},
          el("i", { class: `swatch swatch-${part.kind}` }),
          el("span", {}, part.name),
          el("b", {}, duration(part.seconds)),
          el("small", {}, part.from, " ", time(part.at), " → ", part.until),
        ),
      ),
    ),
  ];
}

function gaps(job, moments) {
  const started = moments.some((moment) => moment.name === "Started");
  const parts = moments.slice(1).map((moment, at) => {
    const [name, kind] = moment.name === "Completed" && !started ? NEVER_STARTED : TO[moment.name];
    return {
      name,
      kind,
      from: moments[at].name,
      at: moments[at].at,
      until: moment.name.toLowerCase(),
      seconds: Math.max(0, seconds(moments[at].at, moment.at)),
    };
  });
  if (job.status !== "completed" && moments.length) {
    const [name, kind] = OPEN[job.status] ?? OPEN.queued;
    const last = moments.at(-1);
    parts.push({
      name: `${name} so far`,
      kind,
      from: last.name,
      at: last.at,
      until: "now",
      seconds: seconds(last.at, new Date().toISOString()),
    });
  }
  return parts.filter((part) => part.seconds >= 0.001);
}
