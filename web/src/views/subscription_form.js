/* The form that creates or changes a subscription. The API checks what is entered. */

import { go, link } from "../address.js";
import * as api from "../api.js";
import { el, replace } from "../dom.js";
import { CONCLUSIONS, named } from "../parts/badge.js";
import { channelName, CHANNELS, listed } from "../parts/channels.js";
import { checkbox, field, group, messageOf } from "../parts/form.js";
import { EVENT_TYPES } from "../parts/message_status.js";
import { showSecret } from "../parts/secret.js";
import { scheduleFields, scheduleOf } from "./schedule_fields.js";

const SUGGESTED = ["job.failed", "job.stuck"];
const LABELS = { types: "Events", text: "Text of the reminder" };
const LISTS = ["repositories", "branches"];

/** `found` is the subscription to change; null for a new one. */
export function subscriptionForm({ channels, found }, context) {
  const kinds = Object.keys(CHANNELS).filter((kind) => channels.kinds.includes(kind));
  const problem = el("p", { class: "problem", role: "alert" });
  const channel = el("div", { class: "stack" });
  const rules = el("div", { class: "stack" });
  const save = el("button", { type: "submit", class: "primary" }, found ? "Save" : "Create");
  const back = link(context.installation, ...(found ? ["subscription", found.subscription_id] : ["notifications"]));
  const form = el(
    "form",
    { class: "form panel", submit },
    field({ name: "name", label: "Name", value: found?.name, required: true, maxlength: 100, placeholder: "Failures on main" }),
    !found &&
      field({ name: "kind", label: "Channel", options: kinds.map((kind) => [kind, channelName(kind)]), value: kinds[0], change: draw }),
    channel,
    rules,
    checkbox({ name: "enabled", label: "Enabled", value: "on", checked: found?.enabled ?? true }),
    problem,
    el("div", { class: "buttons" }, el("a", { class: "button", href: back }, "Cancel"), save),
  );

  function kindNow() {
    return found?.kind ?? new FormData(form).get("kind");
  }

  function draw() {
    const { fields, onlyType } = CHANNELS[kindNow()];
    replace(problem); // it was about another channel
    // Secrets are replaced on the subscription's own page.
    const shown = fields.filter(({ isSecret }) => !found || !isSecret);
    replace(channel, shown.map((each) => channelField(each, channels, found?.config ?? {})));
    replace(rules, onlyType ? el("p", { class: "hint" }, `Sends ${onlyType} only.`) : ruleFields(found));
  }

  async function submit(event) {
    event.preventDefault();
    save.disabled = true;
    replace(problem);
    try {
      const saved = await send(valuesOf(new FormData(form), kindNow(), found), found, context);
      if (saved.secret) await showSecret(saved.secret);
      go(link(context.installation, "subscription", saved.subscription_id));
    } catch (error) {
      replace(problem, messageOf(error, form, LABELS));
    }
    save.disabled = false;
  }

  draw();
  return form;
}

function channelField({ name, options, ...more }, channels, config) {
  const { [name]: value } = config;
  const properties = { ...more, name, value: Array.isArray(value) ? value.join(", ") : value };
  delete properties.parse;
  delete properties.isSecret;
  return field({ ...properties, options: typeof options === "function" ? options(channels) : options });
}

function ruleFields(found) {
  const types = found?.types ?? SUGGESTED;
  const known = Object.values(EVENT_TYPES).flat();
  const others = types.filter((type) => !known.includes(type));
  const joined = (name) => found?.[name].join(", ");
  return [
    group(
      "Events",
      Object.entries(EVENT_TYPES).map(([family, members]) =>
        el(
          "div",
          { class: "checks", role: "group", "aria-label": family },
          members.map((type) => checkbox({ name: "types", value: type, label: type, checked: types.includes(type) })),
        ),
      ),
      field({ name: "other_types", label: "Other types or patterns", value: others.join(", "), hint: "For example job.* or a type that your team posts." }),
    ),
    group(
      "Only if",
      field({ name: "repositories", label: "Repositories", value: joined("repositories"), placeholder: "acme/api, acme/web-*" }),
      field({ name: "branches", label: "Branches", value: joined("branches"), placeholder: "main, release/*" }),
      el("span", { id: "conclusions" }, "Conclusions"),
      el(
        "div",
        { class: "checks", role: "group", "aria-labelledby": "conclusions" },
        conclusions(found).map((each) => checkbox({ name: "conclusions", value: each, label: named(each), checked: found?.conclusions.includes(each) })),
      ),
      field({ name: "at_most_per_hour", label: "Messages an hour, at most", type: "number", min: 1, max: 200, value: found?.at_most_per_hour, hint: "Further events of the hour are not sent." }),
    ),
    group("Schedule", scheduleFields(found?.schedule)),
  ];
}

/** Conclusions that the subscription already has stay selectable. */
function conclusions(found) {
  return [...new Set([...CONCLUSIONS, ...(found?.conclusions ?? [])])];
}

/** The body of the request. If a channel has only one type, the API sets it. */
function valuesOf(data, kind, found) {
  const { fields, onlyType } = CHANNELS[kind];
  const common = { name: data.get("name").trim(), enabled: data.has("enabled") };
  const config = Object.fromEntries(fields.filter(({ isSecret }) => !isSecret).flatMap((each) => given(each, data)));
  const secret = found ? [] : fields.filter(({ isSecret }) => isSecret).flatMap((each) => given(each, data));
  const values = { ...common, config, ...Object.fromEntries(secret), ...(found ? {} : { kind }) };
  if (onlyType) return values;
  const most = data.get("at_most_per_hour");
  return {
    ...values,
    types: [...data.getAll("types"), ...listed(data.get("other_types"))],
    ...Object.fromEntries(LISTS.map((name) => [name, listed(data.get(name))])),
    conclusions: data.getAll("conclusions"),
    at_most_per_hour: most ? Number(most) : null,
    schedule: scheduleOf(data),
  };
}

/** `[[name, value]]`, or `[]` if the field is empty: empty fields aren't sent. */
function given({ name, parse = (text) => text }, data) {
  const text = data.get(name)?.trim();
  return text ? [[name, parse(text)]] : [];
}

function send(values, found, { installation }) {
  if (!found) return api.post(api.of(installation, "subscriptions"), values);
  return api.patch(api.of(installation, "subscriptions", found.subscription_id), values);
}
