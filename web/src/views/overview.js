/* Overview: job counts, problems, the latest events where there is a feed, and statistics. */

import { link } from "../address.js";
import { loadCounts } from "../counts.js";
import { el } from "../dom.js";
import { count } from "../format.js";
import { live } from "../live.js";
import { named, STATUSES } from "../parts/badge.js";
import { panel, tile } from "../parts/panel.js";
import { drawAttention, loadAttention } from "./attention.js";
import { COMPLETED_24H } from "./job_filters.js";
import { latestEvents } from "./latest_events.js";
import { drawStatistics, loadStatistics, rangeChoices } from "./statistics.js";

const LIVE_MS = 15_000;
const ATTENTION_MS = 30_000;
const STATISTICS_MS = 120_000; // expensive to read, and slow to change

export const overview = {
  title: () => "Overview",
  controls: rangeChoices,
  draw(context) {
    const { installation } = context;
    return [
      live(el("div", { class: "tiles now" }), {
        context,
        every: LIVE_MS,
        load: loadCounts(installation),
        draw: (now) => tiles(now, installation),
        skeleton: () => tiles({}, installation),
      }),
      panel(
        "Needs attention",
        live(el("div"), {
          context,
          every: ATTENTION_MS,
          load: loadAttention(context),
          draw: (found) => drawAttention(found, context),
        }),
      ),
      latestEvents(context),
      live(el("div", { class: "stack" }), {
        context,
        every: STATISTICS_MS,
        load: loadStatistics(context),
        draw: (statistics) => drawStatistics(statistics, context),
      }),
    ];
  },
};

function tiles(counts, installation) {
  return STATUSES.map((status) => {
    const done = status === "completed";
    const value = count(done ? counts.completed_24h : counts[status]);
    const href = link(installation, "jobs", undefined, { status, ...(done && COMPLETED_24H) });
    return tile(named(status), value, { href, kind: status, note: done ? "last 24 hours" : null });
  });
}
