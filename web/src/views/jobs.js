/* Jobs by status, repository or run; filters and page are part of the URL. */

import * as api from "../api.js";
import { el } from "../dom.js";
import { plural } from "../format.js";
import { live } from "../live.js";
import { jobsTable } from "../parts/jobs_table.js";
import { pages } from "../parts/pages.js";
import { panel } from "../parts/panel.js";
import { empty } from "../parts/states.js";
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
      panel(null, live(el("div"), { context, every, load: (signal) => page(context, signal), draw })),
    ];
  },
};

/** If matches are rare, the API returns a page without any, and a cursor with which it goes on. */
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
    items.length ? jobsTable(items, installation) : noJobs(next),
    pages({ installation, view: "jobs", query, next, note }),
  ];
}

function noJobs(next) {
  return next
    ? empty("No jobs found so far", "The newest jobs don't match these filters. Search the older ones.")
    : empty("No jobs found", "No jobs match these filters.");
}
