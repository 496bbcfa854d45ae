/* The subscriptions of an installation, with a button that tests each of them. */

import { go, link } from "../address.js";
import * as api from "../api.js";
import { el, userText } from "../dom.js";
import { age } from "../format.js";
import { action } from "../parts/action.js";
import { channelName, receiverOf } from "../parts/channels.js";
import { healthBadge, healthProblem } from "../parts/message_status.js";
import { empty, ways } from "../parts/states.js";
import { table } from "../parts/table.js";
import { isOperator } from "../session.js";

export function drawSubscriptions({ items }, context) {
  if (!items.length) return noSubscriptions(context);
  const columns = [
    {
      title: "Subscription",
      grow: true,
      cell: (row) => [
        el(
          "a",
          { id: `subscription-${row.subscription_id}`, href: link(context.installation, "subscription", row.subscription_id) },
          userText(row.name),
        ),
        el("small", {}, userText(`${channelName(row.kind)} · ${receiverOf(row)}`)),
      ],
    },
    { title: "Sends", grow: true, wide: true, cell: (row) => rules(row).map((rule) => el("small", { class: "rule" }, userText(rule))) },
    { title: "Health", grow: true, cell: (row) => [healthBadge(row), healthProblem(row)] },
    { title: "Last success", numeric: true, wide: true, cell: (row) => age(row.health?.succeeded_at) },
    isOperator(context.me) && {
      title: el("span", { class: "visually-hidden" }, "Action"),
      numeric: true,
      cell: (row) => row.enabled && testButton(row, context, "Test"),
    },
  ];
  return [
    table("Subscriptions", columns.filter(Boolean), items),
    !isOperator(context.me) && el("p", { class: "hint below" }, "Changing subscriptions requires an operator token."),
  ];
}

/** The filter, the limit and the schedule of a subscription, one line each. */
export function rules({ types, repositories, branches, conclusions, at_most_per_hour: most, schedule }) {
  return [
    types.length ? types.join(", ") : !schedule && "No events",
    repositories.length && `Repositories: ${repositories.join(", ")}`,
    branches.length && `Branches: ${branches.join(", ")}`,
    conclusions.length && `Conclusions: ${conclusions.join(", ")}`,
    most && `At most ${most} an hour`,
    schedule && scheduleText(schedule),
  ].filter(Boolean);
}

function scheduleText({ every, weekday, hour, timezone = "UTC", content = "digest" }) {
  const what = content === "digest" ? "Digest" : "Reminder";
  const day = every === "weekly" ? ` on ${(weekday ?? "monday").replace(/^./, (first) => first.toUpperCase())}` : "";
  return `${what} ${every}${day} at ${String(hour).padStart(2, "0")}:00 ${timezone}`;
}

/** Shows the message, which is refreshed until it has ended. */
export function testButton({ subscription_id: id, name }, { installation }, text) {
  return action({
    id: `test-${id}`,
    text,
    label: `${text}: ${name}`,
    act: () => api.post(api.of(installation, "subscriptions", id, "test")),
    done: (message) => go(link(installation, "message", message.message_id)),
  });
}

function noSubscriptions(context) {
  const advice = "A subscription sends chosen events to Slack, a webhook, ntfy, SNS, EventBridge or your launcher.";
  if (!isOperator(context.me)) return empty("No subscriptions yet", `${advice} Creating one requires an operator token.`);
  return empty("No subscriptions yet", advice, ways([link(context.installation, "subscription", "new"), "Create a subscription"]));
}
