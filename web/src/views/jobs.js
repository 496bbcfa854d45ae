/* Jobs by status, repository or run; filters and page are part of the URL. */

import { link } from "../address.js";
import * as api from "../api.js";
import { el } from "../dom.js";
import { plural } from "../format.js";
import { live } from "../live.js";
import { jobsTable } from "../parts/jobs_table.js";
import { pages } from "../parts/pages.js";
import { panel } from "../parts/panel.js";
import { empty, ways } from "../parts/states.js";
import { asParameters, filters, statuses } from "./job_filters.js";

const REFRESH_MS = 20_000;
const PAGE = 50;
const MOST_SEARCHED = 10; // pages without a match that are skipped

export const jobs = {
  title: ({ query }) => query.repo ?? (query.run ? `Run ${query.run}` : "Jobs"),
  draw(context) {
    const every = context.query.cursor ? 0 : REFRESH_MS;
    const draw = (found) => drawPage(found, context);
    return [
      statuses(context),
      filters(context),
      panel(null, live(el("div"), { context, every, load: (signal) => page(context, signal), draw, next: withoutFilters })),
    ];
  },
};

function withoutFilters({ installation }) {
  return ways([link(installation, "jobs"), "Clear the filters"]);
}

/** If matches are rare, the API returns a page without any, and a cursor to continue with. */
async function page({ installation, query }, signal) {
  let { cursor } = query;
  for (let searched = 1; ; searched += 1) {
    const found = await api.get(api.of(installation, "jobs"), { ...asParameters(query), limit: PAGE, cursor }, signal);
    if (found.items.length || !found.next_cursor || searched === MOST_SEARCHED) return found;
    cursor = found.next_cursor;
  }
}

function drawPage({ items, next_cursor: next }, { installation, query }) {
  const note = items.length > 0 && `${plural(items.length, "job")}${next || query.cursor ? " on this page" : ""}`;
  return [
    items.length ? jobsTable(items, installation) : noJobs(next, installation, query),
    pages({ installation, view: "jobs", query, next, note }),
  ];
}

function noJobs(older, installation, query) {
  if (older) return empty("No jobs found so far", "The newest jobs don't match these filters. Search the older ones.");
  if (query.repo || query.run || query.since || query.conclusion)
    return empty("No jobs found", "No jobs match these filters.", withoutFilters({ installation }));
  const { status } = asParameters(query);
  if (status === "completed") return empty("No jobs found", "No job has completed yet.");
  const completed = link(installation, "jobs", undefined, { status: "completed" });
  const advice = `No job is ${status.replaceAll("_", " ")} now.`;
  return empty("No jobs found", advice, ways([completed, "View completed jobs"]));
}
