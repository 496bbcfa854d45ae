/* Jobs by status, repository or run; filters and page are part of the URL. */

import * as api from "../api.js";
import { el } from "../dom.js";
import { count } from "../format.js";
import { live } from "../live.js";
import { jobsTable } from "../parts/jobs_table.js";
import { pages } from "../parts/pages.js";
import { panel } from "../parts/panel.js";
import { empty } from "../parts/states.js";
import { filters, STATUS, statuses } from "./job_filters.js";

const REFRESH_MS = 20_000;
const PAGE = 50;

export const jobs = {
  title: ({ query }) => query.repo ?? (query.run ? `Run ${query.run}` : "Jobs"),
  draw(context) {
    const every = context.query.cursor ? 0 : REFRESH_MS;
    const draw = (found) => drawPage(found, context);
    return [
      statuses(context),
      filters(context),
      panel(null, live(el("div"), { context, every, load: page(context), draw })),
    ];
  },
};

/** The API filters by one of run, repository or status. The other filters apply to the page that it returns. */
function page({ installation, query }) {
  const found = query.run
    ? { run_id: query.run, run_attempt: query.attempt }
    : query.repo
      ? { repo: query.repo }
      : { status: query.status ?? STATUS };
  const parameters = { ...found, since: query.since, limit: PAGE, cursor: query.cursor };
  return (signal) => api.get(api.of(installation, "jobs"), parameters, signal);
}

function drawPage({ items, next_cursor: next }, { installation, query }) {
  const matches = (job, name) => !query[name] || job[name] === query[name];
  const shown = items.filter((job) => matches(job, "conclusion") && matches(job, "status"));
  const note =
    shown.length < items.length
      ? `${count(shown.length)} of the ${count(items.length)} jobs on this page`
      : items.length > 0 && `${count(items.length)} on this page`;
  return [
    shown.length ? jobsTable(shown, installation) : noJobs(items),
    pages({ installation, view: "jobs", query, next, note }),
  ];
}

function noJobs(items) {
  const advice = items.length ? "None on this page. Older pages may have some." : "No jobs match these filters.";
  return empty("No jobs found", advice);
}
