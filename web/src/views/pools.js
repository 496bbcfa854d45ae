/* Runner pools: utilisation and cost. */

import * as api from "../api.js";
import { meter } from "../charts/small.js";
import { el, userText } from "../dom.js";
import { count, dollars, duration, percent, unpriced } from "../format.js";
import { live } from "../live.js";
import { panel } from "../parts/panel.js";
import { empty } from "../parts/states.js";
import { table } from "../parts/table.js";
import { range, rangeChoices } from "./statistics.js";

const REFRESH_MS = 60_000;

export const pools = {
  title: () => "Pools",
  controls: rangeChoices,
  draw(context) {
    const load = (signal) => api.get(api.of(context.installation, "pools"), { since: range(context.query) }, signal);
    return panel(null, live(el("div"), { context, every: REFRESH_MS, load, draw: drawPools }));
  },
};

function drawPools({ items, truncated }) {
  if (!items.length)
    return empty("No pools in this range", "A pool appears after a job has run on one of its runners.");
  const most = Math.max(1e-9, ...items.map((each) => each.usage_in_dollars ?? 0));
  const columns = [
    {
      title: "Pool",
      grow: true,
      cell: (row) => [userText(row.pool_name), row.instance_type && el("small", {}, userText(row.instance_type))],
    },
    { title: "Jobs", numeric: true, cell: (row) => count(row.jobs) },
    {
      title: "Runners",
      numeric: true,
      wide: true,
      cell: (row) => [count(row.runners_active), el("small", {}, `${count(row.busy)} busy`)],
    },
    {
      title: "Utilisation",
      wide: true,
      cell: (row) => (Number.isFinite(row.utilisation) ? meter(row.utilisation, percent(row.utilisation)) : "–"),
    },
    {
      title: "Spot share",
      wide: true,
      cell: (row) =>
        Number.isFinite(row.spot_share) ? meter(row.spot_share, percent(row.spot_share), "success") : "–",
    },
    { title: "Machine time", numeric: true, wide: true, cell: (row) => duration(row.seconds_used) },
    { title: "Spend", cell: (row) => spend(row, most) },
  ];
  return [
    truncated && el("p", { class: "notice" }, "The range has too many jobs to read at once. Only the newest are counted."),
    table("Runner pools", columns, items),
  ];
}

function spend(row, most) {
  const note = unpriced(row.unpriced_seconds);
  return [
    Number.isFinite(row.usage_in_dollars) ? meter(row.usage_in_dollars / most, dollars(row.usage_in_dollars)) : "–",
    note && el("small", {}, note),
  ];
}
