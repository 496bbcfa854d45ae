/* A job: its phases, its history and its details. */

import { link } from "../address.js";
import * as api from "../api.js";
import { el, userText } from "../dom.js";
import { age, dollars, time } from "../format.js";
import { live } from "../live.js";
import { badge, tag, tags } from "../parts/badge.js";
import { awaitsApproval, shownApproval, shownCost, shownQueue, shownRun } from "../parts/durations.js";
import { commit, facts, outward, panel } from "../parts/panel.js";
import { phases } from "../parts/phases.js";
import { notRecorded } from "../parts/states.js";
import { timeline } from "../parts/timeline.js";

const OPEN_MS = 10_000;
const DONE_MS = 60_000;
const HISTORY = 200;

export const job = {
  title: ({ id }) => `Job ${id}`,
  isComplete: ({ id }) => /^\d+$/.test(id),
  draw(context) {
    const { installation, id } = context;
    const load = async (signal) => {
      const at = api.of(installation, "jobs", id);
      const [found, history] = await Promise.all([
        api.get(at, {}, signal),
        api.get(`${at}/events`, { order: "oldest", limit: HISTORY }, signal),
      ]);
      return { job: found, events: history.items, more: Boolean(history.next_cursor) };
    };
    return live(el("div", { class: "stack" }), {
      context,
      every: ({ job: found }) => (found.status === "completed" ? DONE_MS : OPEN_MS),
      load,
      draw: (response) => show(response, context),
      next: missing,
    });
  },
};

function missing({ installation, id }) {
  return notRecorded(
    [link(installation, "lookup", undefined, { q: `job ${id}` }), "Search all installations"],
    [link(installation, "jobs"), "View jobs"],
  );
}

function show({ job: found, events, more }, { installation, rename }) {
  rename(found.job_name ?? `Job ${found.job_id}`);
  return [
    summary(found, installation),
    panel("Time breakdown", phases(found, events)),
    el(
      "div",
      { class: "columns" },
      panel("Timeline", timeline(found, events, more)),
      panel("Details", details(found, installation)),
    ),
  ];
}

function summary(found, installation) {
  return el(
    "p",
    { class: "summary" },
    badge(found),
    tags(found),
    found.repo_full_name &&
      el(
        "a",
        { href: link(installation, "repository", undefined, { repo: found.repo_full_name }) },
        userText(found.repo_full_name),
      ),
    found.run_id &&
      el(
        "a",
        { href: link(installation, "run", found.run_id, { attempt: found.run_attempt }) },
        userText(`${found.workflow_name ?? "Run"} · run ${found.run_id}`),
      ),
    found.head_branch && el("span", { class: "cut" }, userText(found.head_branch)),
    outward(found.job_html_url, "Open on GitHub"),
    review(found),
  );
}

/** While the job awaits an approval: GitHub asks for it on the page of the run. */
function review(found) {
  return awaitsApproval(found) ? outward(found.github_run_url, "Review on GitHub") : null;
}

function details(found, installation) {
  const { cost, note } = shownCost(found);
  const money = (name) => (found[name] === undefined ? null : dollars(Number(found[name])));
  return facts([
    ["Created", time(found.created_at)],
    ["Last change", age(found.last_updated_at)],
    ["Environment", found.environment],
    ["Approval requested", time(found.approval_requested_at)],
    ["Approved", time(found.approved_at)],
    ["Rejected", time(found.rejected_at)],
    ["Awaiting approval", found.approval_requested_at && shownApproval(found)],
    ["Queued for", shownQueue(found)],
    ["Ran for", shownRun(found)],
    ["Cost", note ? [cost, el("small", {}, note)] : cost],
    ["Saved by spot", money("saved_in_dollars")],
    ["Price per hour", money("price_per_hour")],
    ["Pool", found.pool_name && el("a", { href: link(installation, "pools") }, userText(found.pool_name))],
    ["Runner", found.runner_name],
    ["Instance", found.instance_id],
    ["Instance type", [found.instance_type, found.instance_lifecycle].filter(Boolean).join(" · ")],
    ["Interrupted", found.was_interrupted ? "yes" : "no"],
    ["Labels", tagList(found.labels ?? [])],
    ["Attempt", found.run_attempt],
    ["Properties", properties(found)],
    ["Commit", commit(found.head_sha, found.github_run_url)],
    ["Deployment", found.deployment_id],
    ["Workflow id", found.workflow_id],
    ["Job id", found.job_id],
  ]);
}

function tagList(texts) {
  return texts.length
    ? el(
        "span",
        { class: "tags" },
        texts.map((text) => tag(text)),
      )
    : null;
}

/** The repository's custom properties on GitHub, such as its team. */
function properties({ custom_properties: known }) {
  return tagList(Object.entries(known ?? {}).map(([name, value]) => `${name}: ${[value].flat().join(", ")}`));
}
