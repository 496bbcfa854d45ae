/* The newest events of the installation, where the deployment has an event feed. */

import { link } from "../address.js";
import * as api from "../api.js";
import { el, userText } from "../dom.js";
import { age } from "../format.js";
import { live } from "../live.js";
import { panel } from "../parts/panel.js";
import { empty } from "../parts/states.js";
import { table } from "../parts/table.js";

const EVERY_MS = 5000;
const SHOWN = 10;
/** The origin of custom events, whose data and subject are arbitrary. */
const POSTED = "api";

/** Null without a feed. */
export function latestEvents(context) {
  const { installation, me } = context;
  if (!me.feed) return null;
  return panel(
    "Latest events",
    live(el("div"), {
      context,
      every: EVERY_MS,
      load: (signal) => api.get(api.of(installation, "feed"), { limit: SHOWN }, signal),
      draw: ({ items }) => draw(items, installation),
    }),
  );
}

function draw(events, installation) {
  if (!events.length) return empty("No events yet", "Events appear a few seconds after they are recorded.");
  const columns = [
    { title: "Event", cell: (event) => [userText(event.type), event.origin === POSTED ? " (posted)" : null] },
    { title: "About", cell: (event) => about(event, installation) },
    {
      title: "Details",
      grow: true,
      wide: true,
      cell: (event) => el("span", { class: "cut" }, userText(details(event.data))),
    },
    { title: "Time", numeric: true, cell: (event) => age(event.time) },
  ];
  return table("Latest events", columns, events);
}

/** Jobs and runs have views of their own. */
function about({ subject, origin, data }, installation) {
  const [kind, id] = origin === POSTED ? [] : subject.split("/");
  if (kind === "jobs") return el("a", { href: link(installation, "job", id) }, userText(plain(data?.job_name) ?? id));
  if (kind === "runs") return el("a", { href: link(installation, "run", id) }, userText(plain(data?.workflow_name) ?? id));
  return userText(subject);
}

function details(data) {
  const { repo_full_name: repository, head_branch: branch, environment, conclusion } = data ?? {};
  return [repository, branch, environment, conclusion].filter(plain).join(" · ");
}

/** Text and numbers; null for other JSON. */
function plain(value) {
  return typeof value === "string" || typeof value === "number" ? value : null;
}
