/* An environment: what is deployed, what it can be rolled back to, and every deployment. */

import { link } from "../address.js";
import * as api from "../api.js";
import { el, userText } from "../dom.js";
import { age, count, time } from "../format.js";
import { live } from "../live.js";
import { tag } from "../parts/badge.js";
import { pages } from "../parts/pages.js";
import { facts, panel } from "../parts/panel.js";
import { deployed, deploymentBadge, releasesAreOff, runLink, sha } from "../parts/releases.js";
import { empty, ways } from "../parts/states.js";
import { table } from "../parts/table.js";
import { dora } from "./dora.js";

const REFRESH_MS = 15_000;

export const environment = {
  title: ({ id, query }) => `${query.environment} of ${id}`,
  isComplete: ({ id, query }) => id.includes("/") && Boolean(query.environment),
  draw(context) {
    if (!context.me.releases) return releasesAreOff(context);
    const { installation, id, query } = context;
    const [owner, ...name] = id.split("/");
    const path = api.of(installation, "environments", owner, name.join("/"));
    return [
      live(el("div", { class: "stack" }), {
        context,
        every: query.cursor ? 0 : REFRESH_MS,
        load: (signal) => api.get(path, { environment: query.environment, cursor: query.cursor }, signal),
        draw: (found) => drawEnvironment(found, context),
        next: () => ways([link(installation, "environments"), "View all environments"]),
      }),
      dora(context, { repo: id, environment: query.environment }),
    ];
  },
};

function drawEnvironment(found, context) {
  return [
    el(
      "div",
      { class: "columns" },
      panel("Deployed now", current(found, context)),
      panel("Can be rolled back to", targets(found, context)),
    ),
    panel("Deployments", history(found, context)),
  ];
}

function current({ current: now, since, previous, is_rollback: rollback, is_active: active }, { installation }) {
  if (!now) return empty("Nothing is deployed", "No deployment to this environment has succeeded yet.");
  return facts([
    ["Version", [deployed(now), " ", rollback && tag("rollback", "bad"), !active && tag("inactive")]],
    ["Commit", now.head_sha && el("code", {}, userText(now.head_sha))],
    ["Since", [time(since), " · ", age(since)]],
    ["By", now.creator],
    ["Run", now.run_id && runLink(installation, now, `Run ${now.run_id}`)],
    ["Previous", previous && deployed(previous)],
  ]);
}

function targets({ rollback_targets: found }, { installation }) {
  if (!found.length) return empty("No earlier version", "No other commit was deployed here successfully.");
  const columns = [
    { title: "Version", grow: true, cell: (row) => deployed(row) },
    { title: "Deployed", numeric: true, cell: (row) => age(row.succeeded_at) },
    { title: "Run", numeric: true, wide: true, cell: (row) => (row.run_id ? runLink(installation, row, String(row.run_id)) : "–") },
  ];
  return [
    table("Versions that this environment can be rolled back to", columns, found),
    el("p", { class: "hint below" }, "To roll back, re-run the deployment of that version on GitHub."),
  ];
}

function history({ deployments, next_cursor: next }, { installation, id, query }) {
  if (!deployments.length) return empty("No deployments", "All deployments have expired: see the setting releases_retention_days.");
  const columns = [
    { title: "Deployment", cell: (row) => userText(row.deployment_id, { class: "mono" }) },
    { title: "Version", grow: true, cell: (row) => userText(row.version ?? row.ref) },
    { title: "Commit", wide: true, cell: (row) => sha(row.head_sha) },
    { title: "State", cell: (row) => deploymentBadge(row.state) },
    { title: "By", wide: true, cell: (row) => userText(row.creator) },
    { title: "Created", numeric: true, cell: (row) => age(row.created_at) },
    { title: "Run", numeric: true, wide: true, cell: (row) => (row.run_id ? runLink(installation, row, String(row.run_id)) : "–") },
  ];
  return [
    table("Deployments", columns, deployments),
    (next || query.cursor) &&
      pages({ installation, view: "environment", id, query, next, note: `${count(deployments.length)} on this page` }),
  ];
}
