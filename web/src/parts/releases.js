/* What the views of heads, environments and releases share. */

import { link } from "../address.js";
import { meter } from "../charts/small.js";
import { el, userText } from "../dom.js";
import { age, count, percent } from "../format.js";
import { mark } from "./badge.js";
import { outward } from "./panel.js";
import { empty, ways } from "./states.js";
import { table } from "./table.js";

const SETTING = '"releases": true';
const SHORT_SHA = 7;
const HEADS = { green: ["success", "Green"], red: ["failure", "Red"], none: ["other", "No result"] };
const DEPLOYMENTS = { pending: "queued", success: "success", failure: "failure", inactive: "other" };
const LINES = {
  published: "completed", planned: "queued", rebuilding: "in_progress", completed: "success", failed: "failure", refused: "failure",
};
const DEPENDENTS = {
  planned: "queued", waiting: "queued", dispatching: "scheduled", dispatched: "in_progress", succeeded: "success", failed: "failure",
  blocked: "cancelled", skipped: "skipped", unknown: "waiting",
};
const BUILDS = { building: "in_progress", completed: "success", failed: "failure" };

export const headBadge = (state) => mark(...(HEADS[state] ?? HEADS.none));
export const deploymentBadge = (state) => mark(DEPLOYMENTS[state] ?? "other", worded(state));
export const lineBadge = (status) => mark(LINES[status] ?? "other", worded(status));
export const dependentBadge = (status) => mark(DEPENDENTS[status] ?? "other", worded(status));
export const variantBadge = (status) => mark(BUILDS[status] ?? "in_progress", worded(status));
export const buildBadge = (status) => mark(BUILDS[status] ?? "other", worded(status));

export function dependentKind(status) {
  return DEPENDENTS[status] ?? "other";
}

function worded(word) {
  return String(word ?? "unknown").replace(/^./, (first) => first.toUpperCase());
}

export function sha(value) {
  return value ? el("code", { title: value }, userText(value.slice(0, SHORT_SHA))) : "–";
}

/** A commit of a repository: with the address of one of its runs, a link to GitHub. */
export function commitOf(headSha, runUrl) {
  const repository = String(runUrl ?? "").split("/actions/")[0];
  const address = runUrl && headSha ? `${repository}/commit/${headSha}` : null;
  return (address && outward(address, headSha.slice(0, SHORT_SHA))) || sha(headSha);
}

export function runLink(installation, run, text) {
  return el("a", { href: link(installation, "run", run.run_id) }, text);
}

/** What a deployment has put into its environment: a version, or else the ref and the commit. */
export function deployed(deployment) {
  if (!deployment) return "Nothing";
  const name = deployment.version ?? deployment.ref;
  return [name && name !== deployment.head_sha && [userText(name), " "], sha(deployment.head_sha)];
}

/** Builds of one version, or of several. */
export function buildsTable(installation, builds, { versions = false } = {}) {
  const href = ({ name, version, environment }) => link(installation, "build", name, { version, environment });
  const columns = [
    {
      title: "Environment",
      grow: true,
      cell: (row) => [el("a", { class: "row-link", href: href(row) }, userText(row.environment)), versions && el("small", {}, userText(row.version))],
    },
    { title: "Status", cell: (row) => buildBadge(row.status) },
    { title: "Variants", cell: buildProgress },
    { title: "Updated", numeric: true, wide: true, cell: (row) => age(row.updated_at) },
  ];
  return table(versions ? "Builds" : "Builds of this version", columns, builds);
}

export function buildProgress({ completed_variants: completed, total_variants: total, failed_variants: failed, progress }) {
  const share = (variants) => (total ? variants / total : 0);
  const text = total === null ? count(completed) : `${count(completed)} of ${count(total)}`;
  return [
    meter(share(completed + failed), text, "success", share(failed)),
    el("small", {}, progress === null ? "total unknown" : percent(progress), failed > 0 && `, ${count(failed)} failed`),
  ];
}

/** On a deployment without releases, every view of theirs explains how to turn them on. */
export function releasesAreOff({ installation }) {
  return empty(
    "Heads and releases are off",
    "This deployment records no heads, environments or releases. To turn them on, change this setting in cdk.json and run cdk deploy --all:",
    el("code", { class: "address" }, SETTING),
    ways([link(installation, "overview"), "Go to the overview"]),
  );
}
