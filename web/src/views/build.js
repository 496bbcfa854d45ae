/* A build: how far its variants are, why some failed, and their artifacts. */

import { link } from "../address.js";
import * as api from "../api.js";
import { el, userText } from "../dom.js";
import { age, count, time } from "../format.js";
import { live } from "../live.js";
import { facts, outward, panel } from "../parts/panel.js";
import { buildBadge, buildProgress, commitOf, releasesAreOff, runLink, variantBadge } from "../parts/releases.js";
import { ways } from "../parts/states.js";
import { table } from "../parts/table.js";
import { releaseLink } from "./releases.js";

const OPEN_MS = 5000;
const ENDED_MS = 60_000;
const SHORT_FINGERPRINT = 12;
const FAILED_FIRST = { failed: 0, started: 1, completed: 2 };

export const build = {
  title: ({ id, query }) => `${id} ${query.version} in ${query.environment}`,
  isComplete: ({ id, query }) => Boolean(id && query.version && query.environment),
  draw(context) {
    if (!context.me.releases) return releasesAreOff(context);
    const { installation, id, query } = context;
    const path = api.of(installation, "builds", id, query.version);
    return live(el("div", { class: "stack" }), {
      context,
      every: ({ status }) => (status === "building" ? OPEN_MS : ENDED_MS),
      load: (signal) => api.get(path, { environment: query.environment }, signal),
      draw: (found) => drawBuild(found, context),
      next: () => ways([link(installation, "packages", id), "View the package"]),
    });
  },
};

function drawBuild(found, { installation }) {
  return [
    el("p", { class: "summary" }, buildBadge(found.status)),
    panel(
      "Details",
      facts([
        ["Variants", buildProgress(found)],
        ["Started", [time(found.created_at), " · ", age(found.created_at)]],
        ["Completed", found.completed_at && time(found.completed_at)],
        ["Previous version", found.previous_version],
        ["Commit", found.head_sha && commitOf(found.head_sha)],
        ["Run", found.run_id && runLink(installation, found, `Run ${found.run_id}`)],
      ]),
    ),
    panel("Variants", variants(found)),
    ways(
      [releaseLink(installation, found.name, found.version), "View the release"],
      [link(installation, "packages", found.name), "View the package"],
    ),
  ];
}

function variants({ variants: found }) {
  const columns = [
    {
      title: "Variant",
      grow: true,
      cell: (row) => [userText(row.variant), row.message && el("small", {}, userText(row.message)), row.details && el("small", {}, userText(row.details))],
    },
    { title: "Status", cell: (row) => variantBadge(row.status) },
    { title: "Artifacts", grow: true, cell: (row) => (row.artifacts.length ? row.artifacts.map(artifact) : "–") },
    { title: "Reported", numeric: true, wide: true, cell: (row) => age(row.reported_at) },
  ];
  const ordered = [...found].sort((one, other) => FAILED_FIRST[one.status] - FAILED_FIRST[other.status]);
  return table("Variants of this build", columns, ordered);
}

function artifact({ name, url, sha256, size }) {
  const about = [`sha256 ${sha256.slice(0, SHORT_FINGERPRINT)}`, size !== undefined && size !== null && `${count(size)} bytes`];
  return el(
    "div",
    {},
    outward(url, userText(name)) ?? userText(name),
    el("small", { title: sha256 }, about.filter(Boolean).join(", ")),
  );
}
