/* The schedule of a subscription: a digest or a reminder, daily or weekly. */

import { el } from "../dom.js";
import { named } from "../parts/badge.js";
import { field } from "../parts/form.js";

const NEVER = "";
const WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
const HOURS = Array.from({ length: 24 }, (_, hour) => [String(hour), `${String(hour).padStart(2, "0")}:00`]);
const MORNING = 9;

export function scheduleFields(schedule) {
  const every = field({
    name: "every",
    label: "Digest or reminder",
    options: [[NEVER, "None"], ["daily", "Daily"], ["weekly", "Weekly"]],
    value: schedule?.every ?? NEVER,
    change: update,
  });
  const content = field({
    name: "content",
    label: "Content",
    options: [["digest", "Digest: what failed most, was slowest and cost most"], ["reminder", "Reminder: a text of your own"]],
    value: schedule?.content ?? "digest",
    change: update,
  });
  const weekday = field({ name: "weekday", label: "Day", options: WEEKDAYS.map((day) => [day, named(day)]), value: schedule?.weekday ?? WEEKDAYS[0] });
  const hour = field({ name: "hour", label: "Time", options: HOURS, value: schedule?.hour ?? MORNING });
  const timezone = field({
    name: "timezone",
    label: "Time zone",
    value: schedule?.timezone ?? new Intl.DateTimeFormat().resolvedOptions().timeZone,
  });
  const text = field({ name: "reminder", label: "Text of the reminder", lines: 3, maxlength: 4000, value: schedule?.text });
  const details = el("div", { class: "stack" }, content, el("div", { class: "row" }, weekday, hour, timezone), text);

  /** Fields that don't apply are hidden; `scheduleOf` ignores them. */
  function update() {
    const chosen = every.querySelector("select").value;
    details.hidden = chosen === NEVER;
    weekday.hidden = chosen !== "weekly";
    text.hidden = content.querySelector("select").value !== "reminder";
  }

  update();
  return [every, details];
}

/** Null without a schedule. */
export function scheduleOf(data) {
  const every = data.get("every");
  if (every === NEVER) return null;
  const content = data.get("content");
  return {
    every,
    content,
    hour: Number(data.get("hour")),
    timezone: data.get("timezone").trim() || "UTC",
    ...(every === "weekly" && { weekday: data.get("weekday") }),
    ...(content === "reminder" && { text: data.get("reminder") }),
  };
}
