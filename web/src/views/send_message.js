/* A dialog that sends a custom message to one subscription or to all. */

import { go, link } from "../address.js";
import * as api from "../api.js";
import { el } from "../dom.js";
import { confirm } from "../parts/confirm.js";
import { field } from "../parts/form.js";

const LONGEST_TITLE = 200;
const LONGEST_TEXT = 4000;

/** `to` is a subscription; without it, the message goes to all that are enabled, except launchers. */
export async function composeMessage({ installation }, to) {
  const fields = el(
    "form",
    { class: "form", submit: (event) => event.preventDefault() },
    field({ name: "title", label: "Title (optional)", maxlength: LONGEST_TITLE }),
    field({ name: "text", label: "Text", lines: 4, maxlength: LONGEST_TEXT, required: true }),
  );
  const sent = await confirm({
    title: to ? ["Send a message to ", el("bdi", {}, to.name)] : "Send a message",
    body: [!to && el("p", {}, "It goes to every enabled subscription except launchers, whatever its filters."), fields],
    verb: "Send",
    kind: "primary",
    act: () => post(installation, fields, to),
  });
  if (!sent) return;
  const [first] = sent.items;
  go(sent.items.length === 1 ? link(installation, "message", first.message_id) : link(installation, "notifications", undefined, { type: first.message_type }));
}

function post(installation, form, to) {
  const given = Object.fromEntries([...new FormData(form)].filter(([, value]) => value.trim()));
  if (!given.text) throw new Error("Enter a text.");
  return api.post(api.of(installation, "messages"), { ...given, ...(to && { subscription_id: to.subscription_id }) });
}
