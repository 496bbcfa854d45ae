/* Repositories with jobs, and their statistics. */

import { link } from "../address.js";
import * as api from "../api.js";
import { meter, sparkline } from "../charts/small.js";
import { el, replace, userText } from "../dom.js";
import { age, count, dollars, duration, percent, plural, unpriced } from "../format.js";
import { live } from "../live.js";
import { panel } from "../parts/panel.js";
import { empty } from "../parts/states.js";
import { table } from "../parts/table.js";
import { range, rangeChoices, RANGES } from "./statistics.js";

const REFRESH_MS = 300_000;

export const repositories = {
  title: () => "Repositories",
  controls: rangeChoices,
  draw(context) {
    const { installation, query } = context;
    const load = (signal) => api.get(api.of(installation, "repositories"), { since: range(query) }, signal);
    return panel(null, live(el("div"), { context, every: REFRESH_MS, load, draw: (found) => drawRepositories(found, context) }));
  },
};

function drawRepositories({ items, truncated }, context) {
  if (!items.length)
    return empty("No repositories in this range", `No job was created in the last ${RANGES[range(context.query)]}.`);
  const most = Math.max(...items.map((each) => each.jobs));
  const cells = new Map(items.map((each) => [each.repo_full_name, new Map()]));
  const later =
    (name) =>
    ({ repo_full_name: repo }) => {
      const cell = el("span", { class: "later" }, "…");
      cells.get(repo).set(name, cell);
      return cell;
    };
  const columns = [
    { title: "Repository", grow: true, cell: (row) => repository(row, context) },
    { title: "Jobs", cell: (row) => meter(row.jobs / most, count(row.jobs)) },
    { title: "Over time", wide: true, cell: later("series") },
    { title: "Success", numeric: true, cell: later("success") },
    { title: "Queue p90", numeric: true, wide: true, cell: later("queue") },
    { title: "Duration p90", numeric: true, wide: true, cell: later("duration") },
    { title: "Spend", numeric: true, wide: true, cell: later("spend") },
  ];
  const shown = table("Repositories", columns, items);
  fillIn(items, cells, context);
  return [
    truncated && el("p", { class: "notice" }, "The range has too many jobs to read at once. Only the newest are counted."),
    shown,
  ];
}

function repository(row, { installation, query }) {
  return [
    el(
      "a",
      {
        class: "row-link cut",
        href: link(installation, "repository", undefined, { repo: row.repo_full_name, range: query.range }),
      },
      userText(row.repo_full_name),
    ),
    row.last_job_at && el("small", {}, "last job ", age(row.last_job_at)),
  ];
}

/** Loads the statistics of each row in turn, so the table is shown before them. */
async function fillIn(items, cells, { installation, query, signal }) {
  for (const { repo_full_name: repo } of items) {
    const into = cells.get(repo);
    try {
      const found = await api.get(api.of(installation, "statistics"), { repo, since: range(query) }, signal);
      const perBucket = found.series.map((each) => each.jobs);
      replace(into.get("series"), sparkline(perBucket, `Jobs over time: ${plural(found.jobs, "job")}`));
      replace(into.get("success"), percent(found.success_rate));
      replace(into.get("queue"), duration(found.queue_seconds?.p90));
      replace(into.get("duration"), duration(found.duration_seconds?.p90));
      const note = unpriced(found.unpriced_seconds);
      replace(into.get("spend"), dollars(found.usage_in_dollars), note && el("small", {}, note));
    } catch {
      if (signal.aborted) return;
      for (const cell of into.values()) replace(cell, "–");
    }
  }
}
