/* Kinds of channels: their names, the fields that a subscription of each kind has, and what is shown of its receiver. */

const SECRET = { name: "secret", type: "password", autocomplete: "new-password", isSecret: true };
const URL_FIELD = { name: "url", type: "url", label: "URL", required: true, placeholder: "https://" };
const PRIORITIES = [
  ["", "By event"],
  ["1", "1 (lowest)"],
  ["2", "2"],
  ["3", "3"],
  ["4", "4"],
  ["5", "5 (highest)"],
];

/** `options` is a list of pairs, or a function of the deployment's channels that returns one. `parse` makes the API's value. */
export const CHANNELS = {
  slack: {
    name: "Slack",
    fields: [{ ...SECRET, label: "Incoming webhook URL", required: true, hint: "Slack shows it in the settings of your app. It can't be read later." }],
  },
  webhook: {
    name: "Webhook",
    fields: [
      { ...URL_FIELD, hint: "A public https address." },
      { ...SECRET, label: "Signing secret (optional)", hint: "Leave it empty to have one generated, which is shown once." },
    ],
    generatesSecret: true,
  },
  ntfy: {
    name: "ntfy",
    fields: [
      { ...URL_FIELD, label: "URL of the topic", required: false, hint: "Leave it empty if the name of the topic is secret." },
      { ...SECRET, label: "Access token, or URL of a secret topic" },
      { name: "priority", label: "Priority", options: PRIORITIES, parse: Number },
      { name: "tags", label: "Tags", hint: "Separated by commas, for example warning.", parse: listed },
    ],
  },
  sns: {
    name: "SNS",
    fields: [{ name: "target", label: "Topic", required: true, options: ({ sns_topics: names }) => same(names) }],
  },
  eventbridge: {
    name: "EventBridge",
    fields: [{ name: "target", label: "Event bus", required: true, options: ({ event_buses: names }) => same(names) }],
  },
  relaunch: {
    name: "Relaunch",
    fields: [
      { ...URL_FIELD, label: "Webhook URL of the launcher" },
      { ...SECRET, label: "Webhook secret of the launcher's GitHub App", required: true },
      { name: "owner_type", label: "Owner of the repositories", options: same(["Organization", "User"]) },
      { name: "installation_id", label: "Installation of the launcher's App (optional)", inputmode: "numeric", pattern: "[0-9]*", parse: Number },
    ],
    onlyType: "runner.requested",
  },
};

export function channelName(kind) {
  return CHANNELS[kind]?.name ?? String(kind);
}

/** Where messages go, without secrets. */
export function receiverOf({ config, kind }) {
  if (config.target) return config.target;
  return config.url ?? (kind === "slack" ? "an incoming webhook" : "a secret topic");
}

/** Texts that are separated by commas or white space. */
export function listed(text) {
  return text.split(/[\s,]+/).filter(Boolean);
}

function same(names) {
  return names.map((name) => [name, name]);
}
