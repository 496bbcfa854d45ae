/* Releases: the newest published versions with the rebuilds of their dependents, and all packages. */

import { link } from "../address.js";
import * as api from "../api.js";
import { meter } from "../charts/small.js";
import { el, userText } from "../dom.js";
import { age, count, plural } from "../format.js";
import { live } from "../live.js";
import { pages } from "../parts/pages.js";
import { panel } from "../parts/panel.js";
import { lineBadge, releasesAreOff } from "../parts/releases.js";
import { empty, ways } from "../parts/states.js";
import { table } from "../parts/table.js";

const REFRESH_MS = 15_000;
const PACKAGES_MS = 60_000;
const MOST_PACKAGES = 200;

export const releases = {
  title: () => "Releases",
  draw(context) {
    if (!context.me.releases) return releasesAreOff(context);
    const { installation, query } = context;
    const lines = (signal) => api.get(api.of(installation, "releases"), { cursor: query.cursor }, signal);
    const packages = (signal) => api.get(api.of(installation, "packages"), { limit: MOST_PACKAGES }, signal);
    const next = () => ways([link(installation, "releases"), "View the first page"]);
    return [
      panel(
        "Published versions",
        live(el("div"), { context, every: query.cursor ? 0 : REFRESH_MS, load: lines, draw: (found) => drawLines(found, context), next }),
      ),
      panel("Packages", live(el("div"), { context, every: PACKAGES_MS, load: packages, draw: (found) => drawPackages(found, context) })),
    ];
  },
};

export function releaseLink(installation, name, version) {
  return link(installation, "release", name, { version });
}

function drawLines({ items, next_cursor: next }, { installation, query }) {
  if (!items.length && !query.cursor)
    return empty(
      "No releases yet",
      "A release appears when a version of a package is published: by a webhook (Releases, Registry packages, or a tag), or through the API.",
    );
  const columns = [
    {
      title: "Release",
      grow: true,
      cell: (row) => [
        el("a", { class: "row-link", href: releaseLink(installation, row.name, row.version) }, userText(`${row.name} ${row.version}`)),
        row.previous_version && el("small", {}, "after ", userText(row.previous_version)),
      ],
    },
    { title: "Status", cell: (row) => lineBadge(row.status) },
    { title: "Dependents", cell: progress },
    { title: "Published", numeric: true, cell: (row) => age(row.published_at) },
  ];
  return [
    table("Published versions", columns, items),
    (next || query.cursor) && pages({ installation, view: "releases", query, next, note: `${count(items.length)} on this page` }),
  ];
}

export function progress({ status, total_dependents: total, finished_dependents: finished, failed_dependents: failed }) {
  if (!total) return "–";
  if (status === "planned") return `${count(total)} planned`; // a dry run never finishes
  const text = `${count(finished)} of ${count(total)}`;
  return [meter(finished / total, text, "success", failed / total), failed > 0 && el("small", {}, `${count(failed)} failed`)];
}

function drawPackages({ items, next_cursor: next }, { installation }) {
  if (!items.length) return empty("No packages yet", "Register a package with its dependencies through the API: PUT packages/{name}.");
  const columns = [
    {
      title: "Package",
      grow: true,
      cell: (row) => [
        el("a", { class: "row-link", href: link(installation, "packages", row.name) }, userText(row.name)),
        row.repo_full_name && el("small", {}, userText(row.repo_full_name)),
      ],
    },
    { title: "Version", cell: (row) => userText(row.version) },
    { title: "Published", numeric: true, wide: true, cell: (row) => age(row.published_at) },
    { title: "Depends on", grow: true, wide: true, cell: (row) => userText(Object.keys(row.dependencies ?? {}).join(", ")) },
  ];
  return [
    table("Packages", columns, items),
    next && el("p", { class: "hint below" }, `Only the first ${plural(items.length, "package")} are shown.`),
  ];
}
