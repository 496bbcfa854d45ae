/* A package: what depends on it, what it depends on, its versions, and its builds in each environment. */

import { link } from "../address.js";
import * as api from "../api.js";
import { el, userText } from "../dom.js";
import { age, count, plural } from "../format.js";
import { live } from "../live.js";
import { facts, panel } from "../parts/panel.js";
import { buildsTable, releasesAreOff } from "../parts/releases.js";
import { empty, ways } from "../parts/states.js";
import { table } from "../parts/table.js";
import { releaseLink } from "./releases.js";

const REFRESH_MS = 15_000;
const VERSIONS = 20;
// The builds of each environment take one request.
const ENVIRONMENTS = 5;
const BUILDS = 5;

export const packages = {
  title: ({ id }) => id,
  isComplete: ({ id }) => Boolean(id),
  draw(context) {
    if (!context.me.releases) return releasesAreOff(context);
    return live(el("div", { class: "stack" }), {
      context,
      every: REFRESH_MS,
      load: (signal) => loadPackage(context, signal),
      draw: (found) => drawPackage(found, context),
      next: () => ways([link(context.installation, "releases"), "View all packages"]),
    });
  },
};

async function loadPackage({ installation, id }, signal) {
  const [found, published] = await Promise.all([
    api.get(api.of(installation, "packages", id), {}, signal),
    api.get(api.of(installation, "packages", id, "versions"), { limit: VERSIONS }, signal),
  ]);
  const environments = found.heads.slice(0, ENVIRONMENTS).map(({ environment }) => environment);
  // Encoded twice: API Gateway decodes the slash of a name, and would read its last part as a version.
  const path = api.of(installation, "builds", encodeURIComponent(id));
  const reported = await Promise.all(environments.map((environment) => api.get(path, { environment, limit: BUILDS }, signal)));
  return { ...found, versions: published.items, builds: reported.flatMap(({ items }) => items) };
}

function drawPackage(found, { installation }) {
  return [
    el(
      "div",
      { class: "columns" },
      panel("Dependents", dependents(found, installation)),
      panel("Details", details(found)),
    ),
    panel("Builds", builds(found, installation)),
    panel("Versions", versions(found, installation)),
  ];
}

function details(found) {
  const dependencies = Object.entries(found.dependencies ?? {});
  return facts([
    ["Description", found.description],
    ["Repository", found.repo_full_name],
    ["Published by", found.published_by],
    ["Workflow", found.workflow ?? "none: it isn't rebuilt"],
    ["Depends on", dependencies.map(([name, range]) => `${name} ${range}`).join(", ") || "nothing"],
  ]);
}

/** A version that a rebuild published is part of the release for which it was rebuilt. */
function releaseOf(installation, { version, released_with: joined }, name) {
  return releaseLink(installation, joined?.name ?? name, joined?.version ?? version);
}

/** Whether a version rebuilds them depends on their range. */
function dependents({ dependents: found, name }, installation) {
  if (!found.length) return empty("No dependents", `No package has ${name} among its dependencies.`);
  const columns = [
    { title: "Package", grow: true, cell: (row) => el("a", { class: "row-link", href: link(installation, "packages", row.name) }, userText(row.name)) },
    { title: "Range", cell: (row) => userText(row.range, { class: "mono" }) },
  ];
  return table("Packages that depend on this one", columns, found);
}

function builds({ builds: found, heads, name }, installation) {
  if (!found.length) return empty("No builds", `No build of ${name} was reported, or all have expired.`);
  const more = heads.length - ENVIRONMENTS;
  return [
    buildsTable(installation, found, { versions: true }),
    more > 0 && el("p", { class: "hint below" }, `${plural(more, "more environment")}: see the API.`),
  ];
}

function versions({ versions: found, name }, installation) {
  if (!found.length) return empty("No versions", "A version appears when it is published.");
  const columns = [
    {
      title: "Version",
      grow: true,
      cell: (row) => [
        el("a", { class: "row-link", href: releaseOf(installation, row, name) }, userText(row.version)),
        row.released_with && el("small", {}, "rebuilt for ", userText(`${row.released_with.name} ${row.released_with.version}`)),
      ],
    },
    { title: "Published by", wide: true, cell: (row) => userText(row.published_by) },
    { title: "Published", numeric: true, cell: (row) => age(row.published_at) },
  ];
  return [
    table("Published versions, the highest first", columns, found),
    found.length === VERSIONS && el("p", { class: "hint below" }, `Only the ${count(VERSIONS)} highest versions are shown.`),
  ];
}
