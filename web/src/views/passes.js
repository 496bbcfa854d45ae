/* Passes of the reconciler. */

import { link } from "../address.js";
import { el, userText } from "../dom.js";
import { age, count, duration, seconds } from "../format.js";
import { named, passBadge } from "../parts/badge.js";
import { counter } from "../parts/counters.js";
import { pages } from "../parts/pages.js";
import { empty } from "../parts/states.js";
import { table } from "../parts/table.js";

const INSPECTED = new Set(["runs_asked", "active_runners", "living_instances", "deliveries_read"]);

export function drawPasses({ items, next_cursor: next }, { installation, query }) {
  if (!items.length) return empty("No passes yet", "The reconciler runs every few minutes.");
  const columns = [
    { title: "Status", cell: (row) => passBadge(row) },
    {
      title: "Pass",
      cell: (row) => el("a", { class: "row-link", href: link(installation, "pass", row.id) }, userText(named(row.pass))),
    },
    {
      title: "Result",
      grow: true,
      wide: true,
      cell: (row) => el("span", { class: "cut" }, userText(result(row))),
    },
    { title: "Requested by", wide: true, cell: (row) => userText(row.requested_by ?? "schedule") },
    { title: "Duration", numeric: true, wide: true, cell: (row) => duration(seconds(row.started_at, row.finished_at)) },
    { title: "Started", numeric: true, cell: (row) => age(row.started_at ?? row.requested_at) },
  ];
  return [
    table("Reconciler passes", columns, items),
    (next || query.cursor) && pages({ installation, view: "reconciler", query, next }),
  ];
}

/** The counters of findings and repairs, without those of inspected items. */
function result({ summary, status }) {
  const counted = Object.entries(summary ?? {}).filter(([name, value]) => value > 0 && !INSPECTED.has(name));
  if (counted.length)
    return counted.map(([name, value]) => `${counter(name)}: ${count(value)}`).join(" · ");
  return status === "finished" ? "No problems found" : "–";
}
