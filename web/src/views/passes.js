/* What the reconciler did, pass by pass. */

import { link } from "../address.js";
import { el, words } from "../dom.js";
import { age, count, duration, seconds } from "../format.js";
import { mark, named } from "../parts/badge.js";
import { pages } from "../parts/pages.js";
import { empty } from "../parts/states.js";
import { table } from "../parts/table.js";

const LOOKED_AT = new Set(["runs_asked", "active_runners", "living_instances", "deliveries_read"]);

export function drawPasses({ items, next_cursor: next }, { installation, query }) {
  if (!items.length) return empty("No passes yet", "The reconciler wakes up every few minutes.");
  const columns = [
    { title: "Status", cell: (row) => mark(row.status) },
    {
      title: "Pass",
      cell: (row) => el("a", { class: "row-link", href: link(installation, "pass", row.id) }, words(named(row.pass))),
    },
    {
      title: "Found and done",
      grow: true,
      wide: true,
      cell: (row) => el("span", { class: "cut" }, words(sentence(row))),
    },
    { title: "Asked by", wide: true, cell: (row) => words(row.requested_by ?? "schedule") },
    { title: "Took", numeric: true, wide: true, cell: (row) => duration(seconds(row.started_at, row.finished_at)) },
    { title: "Started", numeric: true, cell: (row) => age(row.started_at ?? row.requested_at) },
  ];
  return [
    table("Passes of the reconciler", columns, items),
    (next || query.cursor) && pages({ installation, view: "reconciler", query, next }),
  ];
}

/** What was found and done, without what was only looked at. */
function sentence({ summary, status }) {
  const counted = Object.entries(summary ?? {}).filter(([name, value]) => value > 0 && !LOOKED_AT.has(name));
  if (counted.length)
    return counted.map(([name, value]) => `${name.replaceAll("_", " ")}: ${count(value)}`).join(" · ");
  return status === "finished" ? "Nothing to mend" : "–";
}
