/* The four DORA figures of environments. */

import { link } from "../address.js";
import * as api from "../api.js";
import { sparkline } from "../charts/small.js";
import { el, userText } from "../dom.js";
import { count, duration, percent, plural } from "../format.js";
import { live } from "../live.js";
import { choices, panel } from "../parts/panel.js";
import { empty } from "../parts/states.js";
import { table } from "../parts/table.js";

const REFRESH_MS = 300_000;
const MS = 1000;
const DAYS_PER_WEEK = 7;
const RANGES = { "30d": "30 days", "90d": "90 days", "7d": "7 days" };
const RANGE = "30d";

export function dora(context, { repo, environment }) {
  const { installation, view, id, query } = context;
  const since = RANGES[query.range] ? query.range : RANGE;
  const load = (signal) => api.get(api.of(installation, "dora"), { repo, environment, since, bucket: "day" }, signal);
  const options = ["7d", "30d", "90d"].map((value) => ({
    value,
    text: RANGES[value],
    href: link(installation, view, id, { ...query, range: value }),
  }));
  return panel(
    environment ? "DORA figures" : "DORA figures of production",
    choices("Range", options, since),
    live(el("div"), { context, every: REFRESH_MS, load, draw: (found) => figures(found, placeIn(installation, !environment), environment) }),
  );
}

function figures({ items, truncated }, place, environment) {
  if (!items.length && !truncated)
    return environment
      ? empty("No figures", `No deployment to ${environment} was found.`)
      : empty("No production environment", "No environment is marked as production on GitHub or named production, prod or live.");
  const columns = [
    { title: "Environment", grow: true, cell: place },
    { title: "Deployments", cell: (row) => [count(row.deployments), frequency(row.deployments_per_day)] },
    { title: "Over time", wide: true, cell: series },
    { title: "Lead time p50", numeric: true, cell: (row) => sampled(row.lead_time_in_ms, "deployment") },
    { title: "Change failure rate", numeric: true, cell: failures },
    { title: "Time to restore p50", numeric: true, wide: true, cell: (row) => sampled(row.time_to_restore_in_ms, "outage") },
  ];
  return [
    truncated && el("p", { class: "notice" }, "There are too many deployments to read at once: some environments are missing."),
    items.length > 0 && table("DORA figures", columns, items),
  ];
}

function placeIn(installation, isList) {
  return (row) => {
    const name = userText(row.repo_full_name);
    const href = link(installation, "environment", row.repo_full_name, { environment: row.environment });
    return [isList ? el("a", { class: "cut", href }, name) : name, el("small", {}, userText(row.environment))];
  };
}

/** Rare deployments are counted by the week, because most of them would be 0.0 a day. */
function frequency(perDay) {
  if (!perDay) return null;
  const [rate, unit] = perDay < 1 ? [perDay * DAYS_PER_WEEK, "week"] : [perDay, "day"];
  return el("small", {}, `${rate < 10 ? rate.toFixed(1) : Math.round(rate)} a ${unit}`);
}

function series(row) {
  return sparkline(
    row.over_time.map((each) => each.deployments),
    `Deployments over time: ${count(row.deployments)}`,
  );
}

function sampled(found, what) {
  if (!Number.isFinite(found?.p50)) return "–";
  return [duration(found.p50 / MS), el("small", {}, `of ${plural(found.count, what)}`)];
}

function failures(row) {
  const note = [
    row.failed_deployments && `${count(row.failed_deployments)} failed`,
    row.rolled_back_deployments && `${count(row.rolled_back_deployments)} rolled back`,
  ].filter(Boolean);
  return [percent(row.change_failure_rate ?? NaN), note.length > 0 && el("small", {}, note.join(", "))];
}
