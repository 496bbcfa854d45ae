/* Notifications: messages by status, subscriptions with the health of their receivers, and the latest messages. */

import { link } from "../address.js";
import * as api from "../api.js";
import { el } from "../dom.js";
import { count, lasting, percent } from "../format.js";
import { live } from "../live.js";
import { kindOfMessage } from "../parts/message_status.js";
import { panel, tile } from "../parts/panel.js";
import { empty, ways } from "../parts/states.js";
import { isOperator } from "../session.js";
import { drawMessages, loadMessages, messageFilters } from "./messages.js";
import { composeMessage } from "./send_message.js";
import { drawSubscriptions } from "./subscriptions.js";

const REFRESH_MS = 15_000;
const COUNTS_MS = 120_000; // reads an index entry of every message of the day
const SETTINGS = '"feeds": true, "notifications": true';

export const notifications = {
  title: () => "Notifications",
  controls: (context) =>
    context.me.notifications &&
    isOperator(context.me) && [
      el("button", { type: "button", id: "send-message", click: () => composeMessage(context) }, "Send a message"),
      el("a", { class: "button", id: "new-subscription", href: link(context.installation, "subscription", "new") }, "New subscription"),
    ],
  draw(context) {
    if (!context.me.notifications) return notificationsAreOff(context);
    const { installation, query } = context;
    const subscriptions = (signal) => api.get(api.of(installation, "subscriptions"), {}, signal);
    return [
      live(el("div", { class: "tiles" }), {
        context,
        every: COUNTS_MS,
        load: (signal) => api.get(api.of(installation, "notifications"), { since: "24h" }, signal),
        draw: tiles,
        skeleton: () => tiles({ messages: {} }),
      }),
      panel(
        "Subscriptions",
        live(el("div"), { context, every: REFRESH_MS, load: subscriptions, draw: (found) => drawSubscriptions(found, context) }),
      ),
      panel(
        "Messages",
        messageFilters(context),
        live(el("div"), {
          context,
          every: query.cursor ? 0 : REFRESH_MS,
          load: loadMessages(context),
          draw: (found) => drawMessages(found, context),
          next: () => ways([link(installation, "notifications"), "Clear the filters"]),
        }),
      ),
    ];
  },
};

/** On a deployment without notifications, every view of theirs explains how to turn them on. */
export function notificationsAreOff({ installation }) {
  return empty(
    "Notifications are off",
    "This deployment sends no messages. To turn notifications on, change these settings in cdk.json and run cdk deploy --all:",
    el("code", { class: "address" }, SETTINGS),
    ways([link(installation, "overview"), "Go to the overview"]),
  );
}

function tiles({ messages, success_rate: rate, oldest_waiting_at: oldest }) {
  const waiting = ["created", "queued", "processing"].map((status) => messages[status]);
  const total = waiting.reduce((sum, number) => sum + number, 0);
  const ofDay = { note: "last 24 hours" };
  return [
    tile("Waiting", count(total), { ...ofDay, kind: kindOfMessage("processing") }),
    tile("Completed", count(messages.completed), { ...ofDay, kind: "completed" }),
    tile("Failed", count(messages.failed), { ...ofDay, kind: "failed" }),
    tile("Success rate", percent(typeof rate === "number" ? rate / 100 : NaN), ofDay),
    tile("Oldest waiting", lasting(oldest), { note: oldest ? "age of the oldest message" : null }),
  ];
}
