/* A job's phases as one bar: the time between its milestones. The last phase of an open job grows. */

import { el, replace, svg, userText } from "../dom.js";
import { duration, running, seconds, time } from "../format.js";
import { everySecond } from "../ticker.js";
import { awaitsApproval } from "./durations.js";
import { milestones } from "./milestones.js";
import { outward } from "./panel.js";

const TO = {
  Received: ["Until received", "quiet"],
  "Approval requested": ["Before the approval request", "quiet"],
  Approved: ["Awaiting approval", "waiting"],
  Rejected: ["Awaiting approval", "waiting"],
  Scheduled: ["Waiting for a runner", "queued"],
  Attached: ["Runner starting", "scheduled"],
  Started: ["Waiting to start", "scheduled"],
  Completed: ["Running", "in_progress"],
};
const NEVER_STARTED = ["Never started", "queued"];
// GitHub didn't report when the approval was given.
const UNKNOWN_APPROVAL = ["Awaiting approval and a runner", "waiting"];
const OPEN = {
  queued: ["Queued", "queued"],
  waiting: ["Awaiting approval", "waiting"],
  scheduled: ["Runner starting", "scheduled"],
  in_progress: ["Running", "in_progress"],
};
const SKIPPED = "This job was skipped: it never ran.";
const TOO_SHORT = "Shorter than GitHub's timestamps can measure (1 s).";
const MIN_SHARE = 0.012; // keeps short phases visible

export function phases(job, events) {
  if (job.carried_over)
    return el("p", { class: "hint" }, "A re-run carried this job over: its times and its runner are those of the original job.");
  const parts = gaps(job, milestones(job, events));
  if (!(whole(parts) > 0)) return el("p", { class: "hint" }, job.conclusion === "skipped" ? SKIPPED : TOO_SHORT);
  const drawing = svg("svg", { class: "phase-bar", width: "100%", height: 14, "aria-hidden": "true" });
  const draw = () => replace(drawing, bars(parts));
  draw();
  if (parts.some((part) => part.open)) everySecond(drawing, draw);
  return [drawing, el("ol", { class: "phases" }, parts.map((part) => item(part, job)))];
}

function item(part, job) {
  return el(
    "li",
    {},
    el("i", { class: `swatch swatch-${part.kind}` }),
    el("span", {}, part.name),
    el("b", {}, part.open ? running(part.seconds) : duration(part.seconds())),
    el("small", {}, part.from, " ", time(part.at), " → ", part.until),
    part.kind === "waiting" && environment(job),
  );
}

/** GitHub asks for an approval, and shows it later, on the page of the run. */
function environment(job) {
  const github = outward(job.github_run_url, awaitsApproval(job) ? "Review on GitHub" : "View the review on GitHub");
  return el("small", {}, job.environment && [userText(job.environment), github && " · "], github);
}

function bars(parts) {
  const all = whole(parts);
  const shares = parts.map((part) => Math.max(part.seconds() / all, MIN_SHARE));
  const total = shares.reduce((sum, share) => sum + share, 0);
  let left = 0;
  return parts.map((part, at) => {
    const width = (shares[at] / total) * 100;
    const bar = svg(
      "rect",
      { class: `fill-${part.kind}`, x: `${left}%`, width: `${Math.max(width - 0.25, 0.4)}%`, height: 14, rx: 3 },
      svg("title", {}, `${part.name}: ${duration(part.seconds())}`),
    );
    left += width;
    return bar;
  });
}

function whole(parts) {
  return parts.reduce((sum, part) => sum + part.seconds(), 0);
}

function gaps(job, moments) {
  const started = moments.some((moment) => moment.name === "Started");
  const parts = moments.slice(1).map((moment, at) => {
    const before = moments[at];
    const [name, kind] = named(before.name, moment.name, started);
    const took = Math.max(0, seconds(before.at, moment.at));
    return { name, kind, from: before.name, at: before.at, until: moment.name.toLowerCase(), seconds: () => took };
  });
  if (job.status !== "completed" && moments.length) parts.push(unfinished(job, moments.at(-1)));
  return parts.filter((part) => part.open || part.seconds() >= 0.001);
}

function named(from, to, started) {
  if (to === "Completed" && !started) return NEVER_STARTED;
  const isUnknown = from === "Approval requested" && to !== "Approved" && to !== "Rejected";
  return isUnknown ? UNKNOWN_APPROVAL : TO[to];
}

function unfinished(job, last) {
  const isApproved = job.status === "waiting" && !awaitsApproval(job);
  const [name, kind] = OPEN[isApproved ? "queued" : job.status] ?? OPEN.queued;
  return {
    name: `${name} so far`,
    kind,
    from: last.name,
    at: last.at,
    until: "now",
    seconds: () => Math.max(0, seconds(last.at, new Date().toISOString())),
    open: true,
  };
}
