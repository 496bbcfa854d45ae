/* A release: the version of a package, its builds, and the rebuilds of the packages that depend on it. */

import { link, redirect } from "../address.js";
import * as api from "../api.js";
import { graph } from "../charts/graph.js";
import { el, userText } from "../dom.js";
import { age, time } from "../format.js";
import { live } from "../live.js";
import { facts, outward, panel } from "../parts/panel.js";
import { buildsTable, dependentBadge, dependentKind, lineBadge, releasesAreOff, runLink } from "../parts/releases.js";
import { empty, ways } from "../parts/states.js";
import { table } from "../parts/table.js";
import { progress } from "./releases.js";

const OPEN_MS = 5000;
const ENDED_MS = 60_000;
const MOST_VERSIONS = 200;
const DRY_RUN = "Nothing was rebuilt: rebuild_dependents is dry_run. With enforce, these workflows would have been started.";

export const release = {
  title: ({ id, query }) => `${id} ${query.version}`,
  isComplete: ({ id, query }) => Boolean(id && query.version),
  draw(context) {
    if (!context.me.releases) return releasesAreOff(context);
    const { installation } = context;
    return live(el("div", { class: "stack" }), {
      context,
      every: ({ status }) => (status === "rebuilding" ? OPEN_MS : ENDED_MS),
      load: (signal) => loadRelease(context, signal),
      draw: (found) => drawRelease(found, context),
      next: () => ways([link(installation, "packages", context.id), "View the package"], [link(installation, "releases"), "View all releases"]),
    });
  },
};

/** A version that a rebuild published is part of the release for which it was rebuilt. */
async function loadRelease({ installation, id, query }, signal) {
  try {
    return await api.get(api.of(installation, "releases", id, query.version), {}, signal);
  } catch (error) {
    if (error.status !== 404) throw error;
    const { items } = await api.get(api.of(installation, "packages", id, "versions"), { limit: MOST_VERSIONS }, signal);
    const joined = items.find(({ version }) => version === query.version)?.released_with;
    if (!joined) throw error;
    redirect(link(installation, "release", joined.name, { version: joined.version }));
    return null;
  }
}

function drawRelease(found, context) {
  return [
    el("p", { class: "summary" }, lineBadge(found.status), found.message && userText(found.message)),
    el(
      "div",
      { class: "columns" },
      panel("Builds", builds(found, context)),
      panel(
        "Details",
        facts([
          ["Published", [time(found.published_at), " · ", age(found.published_at)]],
          ["Completed", found.completed_at && time(found.completed_at)],
          ["Previous version", found.previous_version],
          ["Dependents", found.total_dependents ? progress(found) : "none"],
          ["Package", el("a", { href: link(context.installation, "packages", found.name) }, userText(found.name))],
        ]),
      ),
    ),
    found.dependents.length > 0 && panel("Dependents", dependents(found, context)),
  ];
}

function dependents(found, { installation }) {
  const root = { name: found.name, kind: "success", dependsOn: [], title: `${found.name} ${found.version}` };
  const nodes = found.dependents.map(({ name, status, depends_on: needed }) => ({
    name,
    kind: dependentKind(status),
    dependsOn: needed.length ? needed : [found.name],
    title: `${name}: ${status}`,
  }));
  const columns = [
    { title: "Package", grow: true, cell: (row) => dependent(row, installation) },
    { title: "Status", cell: (row) => dependentBadge(row.status) },
    { title: "Run", cell: (row) => runOf(row, installation) },
    { title: "New version", wide: true, cell: (row) => userText(row.dependent_version) },
    { title: "Started", numeric: true, wide: true, cell: (row) => age(row.dispatched_at) },
  ];
  return [
    found.mode === "dry_run" && el("p", { class: "notice" }, DRY_RUN),
    el("div", { class: "graph-frame", tabindex: "0" }, graph([root, ...nodes], `Dependents of ${found.name} in the order of their rebuilds`)),
    table("Dependents and their rebuilds", columns, found.dependents),
  ];
}

/** With the reason of a failure, which is shown on a phone too. */
function dependent(row, installation) {
  return [
    el("a", { href: link(installation, "packages", row.name) }, userText(row.name)),
    row.repo_full_name && el("small", {}, userText(row.repo_full_name)),
    row.message && el("small", {}, userText(row.message)),
  ];
}

function runOf(row, installation) {
  if (row.run_id) return runLink(installation, row, "View run");
  return outward(row.run_html_url, "GitHub") ?? "–";
}

function builds({ builds: found = [], name }, { installation }) {
  if (!found.length) return empty("No builds", `No build of ${name} was reported for this version.`);
  return buildsTable(installation, found);
}
