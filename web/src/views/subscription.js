/* One subscription: its channel, rules, health and messages, and what operators do with it. */

import { go, link } from "../address.js";
import * as api from "../api.js";
import { el, userText } from "../dom.js";
import { time } from "../format.js";
import { live } from "../live.js";
import { channelName, CHANNELS, receiverOf } from "../parts/channels.js";
import { confirm } from "../parts/confirm.js";
import { field } from "../parts/form.js";
import { healthBadge, healthProblem } from "../parts/message_status.js";
import { facts, panel } from "../parts/panel.js";
import { showSecret } from "../parts/secret.js";
import { empty, ways } from "../parts/states.js";
import { isOperator } from "../session.js";
import { messagesTable } from "./messages.js";
import { notificationsAreOff } from "./notifications.js";
import { composeMessage } from "./send_message.js";
import { subscriptionForm } from "./subscription_form.js";
import { rules, testButton } from "./subscriptions.js";

const REFRESH_MS = 15_000;
const SHOWN = 10;
const NEW = "new";

export const subscription = {
  title: ({ id, query }) => (id === NEW ? "New subscription" : query.edit ? "Edit subscription" : "Subscription"),
  isComplete: ({ id }) => id === NEW || /^[0-9a-f]{32}$/.test(id),
  draw(context) {
    if (!context.me.notifications) return notificationsAreOff(context);
    if (context.id === NEW || context.query.edit) return form(context);
    const load = async (signal) => {
      const [found, messages] = await Promise.all([
        api.get(path(context), {}, signal),
        api.get(api.of(context.installation, "messages"), { subscription: context.id, limit: SHOWN }, signal),
      ]);
      return { found, messages: messages.items };
    };
    return live(el("div", { class: "stack" }), {
      context,
      every: REFRESH_MS,
      load,
      draw: ({ found, messages }) => show(found, messages, context),
      next: () => ways([link(context.installation, "notifications"), "View subscriptions"]),
    });
  },
};

function path({ installation, id }, ...rest) {
  return api.of(installation, "subscriptions", id, ...rest);
}

function form(context) {
  if (!isOperator(context.me))
    return empty(
      "Not allowed with your token",
      "Changing subscriptions requires an operator token.",
      ways([link(context.installation, "notifications"), "View subscriptions"]),
    );
  const load = async (signal) => {
    const [channels, found] = await Promise.all([
      api.get(api.of(context.installation, "notifications"), { since: "1h" }, signal),
      context.id === NEW ? null : api.get(path(context), {}, signal),
    ]);
    return { channels, found };
  };
  // Not refreshed: that would discard what the user has typed.
  return live(el("div"), { context, every: 0, load, draw: (given) => subscriptionForm(given, context) });
}

function show(found, messages, context) {
  context.rename(found.name);
  return [
    el("p", { class: "summary" }, healthBadge(found), healthProblem(found)),
    isOperator(context.me) && buttons(found, context),
    el(
      "div",
      { class: "columns" },
      panel("Latest messages", latest(messages, context)),
      panel("Details", details(found)),
    ),
  ];
}

function latest(messages, context) {
  if (!messages.length) return empty("No messages yet", "Messages appear here as soon as an event matches.");
  const all = link(context.installation, "notifications", undefined, { subscription: context.id });
  return [
    messagesTable(messages, null, context),
    messages.length === SHOWN && el("p", { class: "hint below" }, el("a", { href: all }, "View all messages of this subscription")),
  ];
}

function details(found) {
  const { config, health } = found;
  return facts([
    ["Channel", channelName(found.kind)],
    ["Receiver", receiverOf(found)],
    ["Sends", el("ul", {}, rules(found).map((rule) => el("li", {}, userText(rule))))],
    ["Text", found.schedule?.text],
    ["Priority", config.priority],
    ["Tags", config.tags?.join(", ")],
    ["Owner type", config.owner_type],
    ["Launcher's installation", config.installation_id],
    ["Secret", found.has_secret ? "Stored in Secrets Manager" : "None"],
    ["Previous secret", found.previous_secret_until > new Date().toISOString() ? ["valid until ", time(found.previous_secret_until)] : null],
    ["Last success", health?.succeeded_at && time(health.succeeded_at)],
    ["Last failure", health?.failed_at && time(health.failed_at)],
    ["Created by", found.created_by],
    ["Created", time(found.created_at)],
    ["Changed", found.version > 1 ? time(found.updated_at) : null],
    ["Id", found.subscription_id],
  ]);
}

function buttons(found, context) {
  const button = (id, text, click, kind) => el("button", { type: "button", id, class: kind, click }, text);
  const toggle = found.enabled ? "Disable" : "Enable";
  const acceptsTexts = found.enabled && !CHANNELS[found.kind]?.onlyType;
  return el(
    "div",
    { class: "toolbar" },
    found.enabled && testButton(found, context, "Send a test"),
    acceptsTexts && button("send-message", "Send a message", () => composeMessage(context, found)),
    el("a", { class: "button", id: "edit", href: link(context.installation, "subscription", context.id, { edit: 1 }) }, "Edit"),
    button("toggle", toggle, () => confirmToggle(found, context)),
    found.has_secret && button("rotate", "Replace the secret", () => confirmRotation(found, context)),
    button("delete", "Delete", () => confirmDeletion(found, context), "danger"),
  );
}

async function confirmToggle({ enabled }, context) {
  const done = await confirm({
    title: enabled ? "Disable this subscription?" : "Enable this subscription?",
    body: el("p", {}, enabled ? "Messages that wait to be sent fail. Events that match meanwhile are not sent later." : "Events that match from now on are sent."),
    verb: enabled ? "Disable" : "Enable",
    kind: enabled ? "danger" : "primary",
    act: () => api.patch(path(context), { enabled: !enabled }),
  });
  if (done) reload();
}

async function confirmRotation({ kind }, context) {
  const { fields, generatesSecret } = CHANNELS[kind];
  const { label } = fields.find(({ isSecret }) => isSecret);
  const given = el(
    "form",
    { class: "form", submit: (event) => event.preventDefault() },
    field({ name: "new-secret", label, type: "password", autocomplete: "new-password", required: !generatesSecret }),
  );
  const done = await confirm({
    title: "Replace the secret?",
    body: [
      el("p", {}, generatesSecret ? "For 24 hours, messages are signed with the previous secret too. Leave the field empty to have a secret generated." : "The new secret is used within a minute."),
      given,
    ],
    verb: "Replace",
    act() {
      const secret = new FormData(given).get("new-secret").trim();
      if (!secret && !generatesSecret) throw new Error("Enter the new secret.");
      return api.post(path(context, "rotate-secret"), secret ? { secret } : {});
    },
  });
  if (done?.secret) await showSecret(done.secret);
  if (done) reload();
}

async function confirmDeletion({ name }, context) {
  const done = await confirm({
    title: "Delete this subscription?",
    body: [
      el("p", {}, "Its secret is deleted too, and messages that wait to be sent fail. Messages that were sent stay in the list."),
      facts([["Subscription", name]]),
    ],
    verb: "Delete",
    act: () => api.remove(path(context)),
  });
  if (done) go(link(context.installation, "notifications"));
}

function reload() {
  window.dispatchEvent(new HashChangeEvent("hashchange"));
}
