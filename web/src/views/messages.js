/* Messages by status, type and subscription; filters and page are part of the URL. */

import { go, link } from "../address.js";
import * as api from "../api.js";
import { el, userText } from "../dom.js";
import { age, count, plural, sentence } from "../format.js";
import { action } from "../parts/action.js";
import { named } from "../parts/badge.js";
import { EVENT_TYPES, kindOfMessage, MESSAGE_STATUSES, messageBadge, OWN_TYPES } from "../parts/message_status.js";
import { pages } from "../parts/pages.js";
import { choices } from "../parts/panel.js";
import { empty, ways } from "../parts/states.js";
import { table } from "../parts/table.js";
import { isOperator } from "../session.js";

const PAGE = 25;
const MOST_SEARCHED = 10; // pages without a match that are skipped

/** With the names of subscriptions, which are loaded again only if a message is of an unknown one. */
export function loadMessages({ installation, query }) {
  let names = {};
  const missing = new Set();
  return async (signal) => {
    const page = await matching(installation, query, signal);
    const ids = [...page.items.map((each) => each.subscription_id), query.subscription].filter(Boolean);
    if (ids.some((id) => !(id in names) && !missing.has(id))) {
      const { items } = await api.get(api.of(installation, "subscriptions"), {}, signal);
      names = Object.fromEntries(items.map((each) => [each.subscription_id, each.name]));
      for (const id of ids) if (!(id in names)) missing.add(id);
    }
    return { ...page, names };
  };
}

/** If matches are rare, the API returns a page without any, and a cursor to continue with. */
async function matching(installation, { status, type, subscription, cursor: start }, signal) {
  let cursor = start;
  for (let searched = 1; ; searched += 1) {
    const given = { status, type, subscription, limit: PAGE, cursor };
    const found = await api.get(api.of(installation, "messages"), given, signal);
    if (found.items.length || !found.next_cursor || searched === MOST_SEARCHED) return found;
    cursor = found.next_cursor;
  }
}

export function messageFilters({ installation, query }) {
  const address = (changes) => link(installation, "notifications", undefined, { ...query, ...changes, cursor: "" });
  const statuses = [
    { value: "", text: "All", href: address({ status: "" }) },
    ...MESSAGE_STATUSES.map((status) => ({
      value: status,
      text: named(status),
      kind: kindOfMessage(status),
      href: address({ status }),
    })),
  ];
  const known = [...Object.values(EVENT_TYPES).flat(), ...OWN_TYPES];
  const other = query.type && !known.includes(query.type) ? [query.type] : [];
  const types = ["", ...other, ...known].map((type) =>
    el("option", { value: type, selected: type === (query.type ?? "") }, type || "Any type"),
  );
  return el(
    "div",
    { class: "filters message-filters" },
    el("div", { class: "statuses" }, choices("Status of messages", statuses, query.status ?? "")),
    el(
      "label",
      {},
      el("span", { class: "visually-hidden" }, "Type of messages"),
      el("select", { id: "filter-type", change: (event) => go(address({ type: event.target.value })) }, types),
    ),
    (query.status || query.type || query.subscription) &&
      el("a", { class: "plain", href: link(installation, "notifications") }, "Clear"),
  );
}

export function drawMessages({ items, next_cursor: next, names }, context) {
  const { installation, query } = context;
  const note = items.length > 0 && `${plural(items.length, "message")}${next || query.cursor ? " on this page" : ""}`;
  return [
    query.subscription && el("p", { class: "notice" }, "Messages of ", userText(names[query.subscription] ?? query.subscription)),
    items.length ? messagesTable(items, names, context) : noMessages(next, context),
    (next || query.cursor) && pages({ installation, view: "notifications", query, next, note }),
  ];
}

export function messagesTable(items, names, context) {
  const columns = [
    { title: "Status", cell: messageBadge },
    {
      title: "Message",
      grow: true,
      cell: (row) => [
        el(
          "a",
          { id: `message-${row.message_id}`, href: link(context.installation, "message", row.message_id) },
          userText(row.title ?? row.message_type),
        ),
        el("small", {}, userText([row.message_type, names && (names[row.subscription_id] ?? "Deleted subscription")].filter(Boolean).join(" · "))),
        el("small", { class: "narrow" }, age(row.created_at), row.error_message && [". ", userText(sentence(row.error_message), { title: null })]),
      ],
    },
    { title: "Error", grow: true, wide: true, cell: (row) => (row.error_message ? userText(sentence(row.error_message), { title: null }) : "–") },
    { title: "Retries", numeric: true, wide: true, cell: (row) => count(row.retry_count) },
    { title: "Created", numeric: true, wide: true, cell: (row) => age(row.created_at) },
    items.some(({ status }) => status === "failed") && {
      title: el("span", { class: "visually-hidden" }, "Action"),
      numeric: true,
      cell: (row) => row.status === "failed" && sendAgain(row, context, { isDeleted: names && !(row.subscription_id in names) }),
    },
  ];
  return table("Messages", columns.filter(Boolean), items);
}

/** A button that sends a failed message again and shows the new one; or a link to it. Null if neither is possible. */
export function sendAgain({ message_id: id, message_type: type, resent_as: again }, { installation, me }, { isDeleted }) {
  if (again) return el("a", { href: link(installation, "message", again), "aria-label": `Sent again: ${type}` }, "Sent again");
  if (isDeleted || !isOperator(me)) return null;
  return action({
    id: `again-${id}`,
    text: "Send again",
    label: `Send again: ${type}`,
    act: () => api.post(api.of(installation, "messages", id, "send-again")),
    done: (message) => go(link(installation, "message", message.message_id)),
  });
}

function noMessages(older, { installation, query }) {
  if (older) return empty("No messages found so far", "The newest messages don't match these filters. Search the older ones.");
  if (query.status || query.type || query.subscription)
    return empty("No messages found", "No messages match these filters.", ways([link(installation, "notifications"), "Clear the filters"]));
  return empty("No messages yet", "Messages appear here as soon as an event matches a subscription.");
}
