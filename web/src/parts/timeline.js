/* A job's history, oldest first: each event with its changes, and the time between events. */

import { el, userText } from "../dom.js";
import { duration, plural, seconds, time } from "../format.js";
import { named, tag } from "./badge.js";
import { empty } from "./states.js";

const MEANING = {
  webhook_queued: ["Queued", "queued"],
  webhook_waiting: ["Awaiting approval", "waiting"],
  webhook_in_progress: ["Started", "in_progress"],
  webhook_completed: ["Completed", "completed"],
  runner_scheduled: ["Runner scheduled", "scheduled"],
  runner_rescheduled: ["Runner rescheduled", "scheduled"],
  runner_attached: ["Runner attached", "scheduled"],
  runner_interrupted: ["Runner interrupted", "failure"],
  runner_rebalance_recommended: ["Runner at risk", "waiting"],
  runner_terminated: ["Runner terminated", "other"],
  runner_taken: ["Runner taken by another job", "waiting"],
  runner_requested: ["Runner requested", "reconciled"],
  deployment_requested: ["Approval requested", "waiting"],
  deployment_approved: ["Approved", "success"],
  deployment_rejected: ["Rejected", "failure"],
  rerun_requested: ["Re-run requested", "reconciled"],
  rerun_refused: ["Re-run refused by GitHub", "failure"],
  job_reconciled: ["Corrected by the reconciler", "reconciled"],
};

// The attribute with the time at which an event happened, which may be long before it was received. In the order of a
// job's life: GitHub's times have a resolution of one second, so several can be the same.
const FACT = {
  webhook_queued: "created_at",
  webhook_waiting: "approval_requested_at",
  deployment_requested: "approval_requested_at",
  deployment_approved: "approved_at",
  deployment_rejected: "rejected_at",
  queued_again: "approved_at",
  runner_scheduled: "scheduled_at",
  runner_rescheduled: "scheduled_at",
  webhook_in_progress: "started_at",
  runner_interrupted: "interrupted_at",
  runner_terminated: "terminated_at",
  webhook_completed: "completed_at",
};
const LIFE = Object.keys(FACT);
// A machine can change, so the job's attribute may be that of another machine.
const OF_MACHINE = new Set(["runner_scheduled", "runner_rescheduled", "runner_interrupted", "runner_terminated"]);
const LATE_SECONDS = 60;
// What caused the events that aren't webhooks. All others are conclusions of Runledger.
const REPORTERS = {
  runner_scheduled: "Launcher",
  runner_rescheduled: "Launcher",
  runner_attached: "AWS",
  runner_interrupted: "AWS",
  runner_rebalance_recommended: "AWS",
  runner_terminated: "AWS",
  runner_requested: "Reconciler",
  job_reconciled: "Reconciler",
};

export function timeline(job, events, more) {
  if (!events.length)
    return empty("No history", "The history of this job has expired. Its details are still available.");
  const created = { at: job.created_at, title: "Created on GitHub", kind: "other" };
  const occurrences = events
    .map((event) => occurrence(event, job, events))
    .sort((one, other) => Date.parse(one.at) - Date.parse(other.at) || one.place - other.place);
  const lines = [created, ...occurrences];
  return [
    el(
      "ol",
      { class: "timeline" },
      lines.map((line, place) => row(line, lines[place - 1])),
    ),
    more && el("p", { class: "hint" }, "Only the first 200 events are shown."),
  ];
}

function occurrence(event, job, events) {
  const [title, kind] = meaning(event);
  const type = isQueuedAgain(event, events) ? "queued_again" : event.event_type;
  const place = event.duplicate || !FACT[type] ? LIFE.length : LIFE.indexOf(type);
  return { at: happenedAt(event, job, events), place, title, kind, event };
}

/** The time of receipt for duplicates, for events without a time, and for all events of a carried-over job. */
function happenedAt(event, job, events) {
  const name = FACT[event.event_type];
  if (!name || event.duplicate || job.carried_over) return event.timestamp;
  const reported = event.changes?.[name]?.to;
  const known = isQueuedAgain(event, events) ? job.approved_at : job[name];
  const at = OF_MACHINE.has(event.event_type) ? reported : (known ?? reported);
  return at && at <= event.timestamp ? at : event.timestamp;
}

/** After an approval, GitHub reports once more that the job is queued. */
function isQueuedAgain(event, events) {
  const queued = events.filter((each) => each.event_type === "webhook_queued" && !each.duplicate);
  return event.event_type === "webhook_queued" && queued.indexOf(event) > 0;
}

function row({ at, title, kind, event }, before) {
  const gap = before ? seconds(before.at, at) : NaN;
  return el(
    "li",
    { class: event?.duplicate ? "duplicate" : "" },
    gap >= 0.001 &&
      el(
        "span",
        { class: `gap ${gap >= 60 ? "long" : ""}` },
        duration(gap),
        el("span", { class: "visually-hidden" }, " later"),
      ),
    el("span", { class: `node kind-${kind}`, "aria-hidden": "true" }),
    el(
      "div",
      { class: "event" },
      el("p", { class: "event-title" }, userText(title), event?.duplicate && tag("duplicate"), time(at)),
      event && [changes(event), origin(event, at)],
    ),
  );
}

function meaning(event) {
  const [title, kind] = MEANING[event.event_type] ?? [named(event.event_type), "other"];
  const conclusion = event.event_type === "webhook_completed" && event.changes?.conclusion?.to;
  return conclusion
    ? [`${title}: ${conclusion}`, conclusion === "success" ? "success" : conclusion === "failure" ? "failure" : "other"]
    : [title, kind];
}

function changes(event) {
  const changed = Object.entries(event.changes ?? {});
  if (!changed.length) return null;
  return el(
    "details",
    { class: "changes" },
    el(
      "summary",
      {},
      el("span", {}, plural(changed.length, "change")),
      el("span", { class: "cut" }, userText(changed.map(([name]) => name).join(", "), { title: null })),
    ),
    el(
      "dl",
      { class: "facts" },
      changed.map(([name, { from, to }]) => [
        el("dt", {}, userText(name)),
        el(
          "dd",
          {},
          from !== undefined && from !== null && [el("del", {}, userText(plain(from))), " → "],
          el("ins", {}, userText(plain(to))),
        ),
      ]),
    ),
  );
}

function origin(event, at) {
  const lag = seconds(at, event.timestamp);
  return el(
    "p",
    { class: "event-origin" },
    reporter(event),
    lag > 0 && [" · ", el("span", { class: lag >= LATE_SECONDS ? "late" : "" }, `received ${duration(lag)} later`)],
    event.delivery_id && [" · ", userText(event.delivery_id, { class: "mono" })],
  );
}

function reporter({ source, event_type: type }) {
  return source === "github_webhook" ? "GitHub" : (REPORTERS[type] ?? "Runledger");
}

function plain(value) {
  return value !== null && typeof value === "object" ? JSON.stringify(value) : value;
}
