/* A branch of a repository: its latest commits, and how each workflow ended for them. */

import { link } from "../address.js";
import * as api from "../api.js";
import { el, userText } from "../dom.js";
import { age, lasting } from "../format.js";
import { live } from "../live.js";
import { badge } from "../parts/badge.js";
import { panel } from "../parts/panel.js";
import { commitOf, headBadge, releasesAreOff, runLink } from "../parts/releases.js";
import { empty, ways } from "../parts/states.js";
import { table } from "../parts/table.js";

const REFRESH_MS = 15_000;
const COMMITS = 30;

export const branch = {
  title: ({ id, query }) => [id, query.branch].filter(Boolean).join(" · "),
  isComplete: ({ id }) => id.includes("/"),
  draw(context) {
    if (!context.me.releases) return releasesAreOff(context);
    const { installation, id, query } = context;
    const [owner, ...name] = id.split("/");
    const path = api.of(installation, "heads", owner, name.join("/"));
    return live(el("div", { class: "stack" }), {
      context,
      every: REFRESH_MS,
      load: (signal) => api.get(path, { branch: query.branch, limit: COMMITS }, signal),
      draw: (found) => drawBranch(found, context),
      next: () => ways([link(installation, "heads"), "View all heads"]),
    });
  },
};

function drawBranch(found, context) {
  const { installation } = context;
  context.rename(`${found.repo_full_name} · ${found.branch}`);
  if (!found.commits.length)
    return panel(null, empty("No runs on this branch", "Runs of pull requests don't count.", ways([link(installation, "heads"), "View all heads"])));
  return [
    panel("Workflows", el("ul", { class: "workflows" }, found.workflows.map(workflow))),
    panel("Commits", grid(found, context)),
    ways(
      [link(installation, "repository", undefined, { repo: found.repo_full_name }), "View statistics"],
      [link(installation, "environments", undefined, { repo: found.repo_full_name }), "View environments"],
    ),
  ];
}

function workflow({ workflow_name: name, state, since }) {
  return el("li", {}, headBadge(state), userText(name), since && el("small", {}, "for ", lasting(since)));
}

function grid({ commits, workflows }, { installation }) {
  const columns = [
    {
      title: "Commit",
      cell: (row) => [commitOf(row.head_sha, row.runs[0]?.run_html_url), el("small", {}, age(row.committed_at ?? row.runs[0]?.created_at))],
    },
    ...workflows.map((each) => ({
      title: userText(each.workflow_name),
      cell: (row) => {
        const run = row.runs.find((one) => one.workflow_id === each.workflow_id);
        return run ? runLink(installation, run, badge(run)) : "–";
      },
    })),
    { title: "By", wide: true, grow: true, cell: (row) => userText(row.runs[0]?.actor) },
  ];
  return table("Commits and how each workflow ended", columns, commits);
}
