/* Environments: which version is where, since when, and how well deployments go. */

import { link } from "../address.js";
import * as api from "../api.js";
import { el, userText } from "../dom.js";
import { age, count } from "../format.js";
import { live } from "../live.js";
import { tag } from "../parts/badge.js";
import { pages } from "../parts/pages.js";
import { panel } from "../parts/panel.js";
import { deployed, deploymentBadge, releasesAreOff } from "../parts/releases.js";
import { empty, ways } from "../parts/states.js";
import { table } from "../parts/table.js";
import { dora } from "./dora.js";

const REFRESH_MS = 15_000;
// Environments with these names need no *production* badge.
const PRODUCTION = /^(production|prod|live)$/i;

export const environments = {
  title: ({ query }) => (query.repo ? `Environments of ${query.repo}` : "Environments"),
  draw(context) {
    if (!context.me.releases) return releasesAreOff(context);
    const { installation, query } = context;
    const load = (signal) => api.get(api.of(installation, "environments"), { repo: query.repo, cursor: query.cursor }, signal);
    const next = () => ways([link(installation, "environments", undefined, { repo: query.repo }), "View the first page"]);
    return [
      panel("Deployed now", live(el("div"), { context, every: REFRESH_MS, load, draw: (found) => board(found, context), next })),
      dora(context, { repo: query.repo }),
    ];
  },
};

function board({ items, next_cursor: next }, { installation, query }) {
  if (!items.length && !query.cursor)
    return empty(
      "No environments yet",
      "An environment appears with its first deployment. This needs the webhooks Deployments and Deployment statuses.",
      query.repo && ways([link(installation, "environments"), "View all environments"]),
    );
  const columns = [
    { title: "Repository", grow: true, cell: (row) => place(row, installation) },
    { title: "Deployed", grow: true, cell: running },
    { title: "Since", numeric: true, cell: (row) => age(row.since) },
    { title: "By", wide: true, cell: (row) => userText(row.current?.creator) },
    { title: "Previous", wide: true, cell: (row) => (row.previous ? deployed(row.previous) : "–") },
    { title: "Latest deployment", wide: true, cell: latest },
  ];
  return [
    table("Environments and what is deployed to them", columns, items),
    (next || query.cursor) && pages({ installation, view: "environments", query, next, note: `${count(items.length)} on this page` }),
  ];
}

function place(row, installation) {
  const href = link(installation, "environment", row.repo_full_name, { environment: row.environment });
  return [
    el("a", { class: "row-link cut", href }, userText(row.repo_full_name)),
    el("small", {}, userText(row.environment), row.is_production && !PRODUCTION.test(row.environment) && tag("production")),
  ];
}

function running(row) {
  return [
    deployed(row.current),
    row.is_rollback && tag("rollback", "bad"),
    row.current && !row.is_active && tag("inactive"),
  ];
}

/** Only if it isn't the one that is deployed. */
function latest({ latest: newest, current }) {
  if (!newest || newest.deployment_id === current?.deployment_id) return "–";
  return [deploymentBadge(newest.state), el("small", {}, deployed(newest))];
}
