/* One message, refreshed until it has ended. */

import { link } from "../address.js";
import * as api from "../api.js";
import { el, userText } from "../dom.js";
import { count, duration, local, seconds, sentence, time } from "../format.js";
import { live } from "../live.js";
import { hasEnded, messageBadge } from "../parts/message_status.js";
import { facts, panel } from "../parts/panel.js";
import { ways } from "../parts/states.js";
import { sendAgain } from "./messages.js";
import { notificationsAreOff } from "./notifications.js";

const FIRST_MS = 1500;
const WAITING_MS = 15_000;

export const message = {
  title: () => "Message",
  isComplete: ({ id }) => /^[0-9a-f]{32}$/.test(id),
  draw(context) {
    if (!context.me.notifications) return notificationsAreOff(context);
    const load = async (signal) => {
      const found = await api.get(api.of(context.installation, "messages", context.id), {}, signal);
      return { found, subscription: await subscriptionOf(found, context, signal) };
    };
    return live(el("div", { class: "stack" }), {
      context,
      every: ({ found }) => (hasEnded(found) ? 0 : found.next_attempt_at ? WAITING_MS : FIRST_MS),
      load,
      draw: ({ found, subscription: of }) => show(found, of, context),
      next: () => [ways([link(context.installation, "notifications"), "View messages"])],
    });
  },
};

/** Without a name if it was deleted. */
async function subscriptionOf({ subscription_id: id }, { installation }, signal) {
  try {
    return await api.get(api.of(installation, "subscriptions", id), {}, signal);
  } catch (error) {
    if (error.status === 404) return {};
    throw error;
  }
}

function show(found, subscription, context) {
  context.rename(found.title ?? found.message_type);
  return [
    el(
      "p",
      { class: "summary" },
      messageBadge(found),
      userText(outcome(found), { title: null }),
      found.status === "failed" && sendAgain(found, context, { isDeleted: !subscription.name }),
    ),
    el(
      "div",
      { class: "columns" },
      panel("What is sent", el("pre", { class: "payload" }, JSON.stringify(found.payload ?? {}, null, 2))),
      panel("Details", details(found, subscription, context)),
    ),
  ];
}

function outcome({ status, error_message: error, next_attempt_at: next }) {
  if (status === "completed") return "The receiver accepted it.";
  if (status === "failed") return error ? sentence(error) : "The receiver didn't accept it.";
  if (next && error) return `${sentence(error)} It will be sent again at ${local(next)}.`;
  if (next) return `The receiver failed before and is paused. The next attempt is at ${local(next)}.`;
  return "It is being sent. This page updates automatically.";
}

function details(found, subscription, context) {
  const { installation } = context;
  const to = (view, id, text) => el("a", { href: link(installation, view, id) }, userText(text));
  return facts([
    ["Subscription", subscription.name ? to("subscription", found.subscription_id, subscription.name) : "Deleted"],
    ["Type", found.message_type],
    ["About", about(found.payload, to)],
    ["Retries", count(found.retry_count)],
    ["Created", time(found.created_at)],
    ["Created by", found.created_by],
    ["First attempt", found.processing_started_at && time(found.processing_started_at)],
    ["Next attempt", !hasEnded(found) && found.next_attempt_at ? time(found.next_attempt_at) : null],
    ["Ended", found.processing_completed_at && time(found.processing_completed_at)],
    ["Duration", duration(seconds(found.created_at, found.processing_completed_at))],
    ["Id", found.message_id],
    ["Receiver's message id", found.notification_id],
    ["Correlation id", found.correlation_id],
    ["Sent again from", found.resent_from && to("message", found.resent_from, found.resent_from)],
    ["Sent again as", found.resent_as && to("message", found.resent_as, found.resent_as)],
  ]);
}

/** The job or run of an event that the ledger recorded; the subject of a posted one is anything. */
function about({ subject, origin, data } = {}, to) {
  const [kind, id] = origin && origin !== "api" ? String(subject).split("/") : [];
  if (kind === "jobs") return to("job", id, typeof data?.job_name === "string" ? data.job_name : `Job ${id}`);
  return kind === "runs" ? to("run", id, `Run ${id}`) : null;
}
