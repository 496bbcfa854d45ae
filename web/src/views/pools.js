/* Pools of runners: how busy they are, and what they cost. */

import * as api from "../api.js";
import { meter } from "../charts/small.js";
import { el, words } from "../dom.js";
import { count, dollars, duration, percent } from "../format.js";
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
    return panel(null, live(el("div"), { context, every: REFRESH_MS, load, draw: listing }));
  },
};

function listing({ items, truncated }) {
  if (!items.length)
    return empty("No pools in this range", "A pool is known once a job has run on one of its runners.");
  const most = Math.max(1e-9, ...items.map((each) => each.usage_in_dollars ?? 0));
  const columns = [
    {
      title: "Pool",
      grow: true,
      cell: (row) => [words(row.pool_name), row.instance_type && el("small", {}, words(row.instance_type))],
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
      title: "Spot",
      wide: true,
      cell: (row) =>
        Number.isFinite(row.spot_share) ? meter(row.spot_share, percent(row.spot_share), "success") : "–",
    },
    { title: "Time used", numeric: true, wide: true, cell: (row) => duration(row.seconds_used) },
    { title: "Spend", cell: (row) => meter((row.usage_in_dollars ?? 0) / most, dollars(row.usage_in_dollars)) },
  ];
  return [
    truncated && el("p", { class: "notice" }, "More jobs than can be read at once: only the newest are counted."),
    table("Pools of runners", columns, items),
  ];
}
