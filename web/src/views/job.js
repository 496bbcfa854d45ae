/* A job: its phases, its history and its details. */

import { link } from "../address.js";
import * as api from "../api.js";
import { el, userText } from "../dom.js";
import { age, dollars, duration, time } from "../format.js";
import { live } from "../live.js";
import { badge, tag } from "../parts/badge.js";
import { queuedFor, ranFor } from "../parts/jobs_table.js";
import { facts, outward, panel } from "../parts/panel.js";
import { phases } from "../parts/phases.js";
import { timeline } from "../parts/timeline.js";

const OPEN_MS = 10_000;
const DONE_MS = 60_000;
const HISTORY = 200;

export const job = {
  title: ({ id }) => `Job ${id}`,
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
    });
  },
};

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
    found.was_interrupted && tag("interrupted", "bad"),
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
  );
}

function details(found, installation) {
  const money = (name) => (found[name] === undefined ? null : dollars(Number(found[name])));
  return facts([
    ["Created", time(found.created_at)],
    ["Last change", age(found.last_updated_at)],
    ["Queued for", duration(queuedFor(found))],
    ["Ran for", duration(ranFor(found))],
    ["Cost", money("usage_in_dollars")],
    ["Saved by spot", money("saved_in_dollars")],
    ["Price per hour", money("price_per_hour")],
    ["Pool", found.pool_name && el("a", { href: link(installation, "pools") }, userText(found.pool_name))],
    ["Runner", found.runner_name],
    ["Instance", found.instance_id],
    ["Instance type", [found.instance_type, found.instance_lifecycle].filter(Boolean).join(" · ")],
    [
      "Labels",
      found.labels?.length
        ? el(
            "span",
            { class: "tags" },
            found.labels.map((label) => tag(label)),
          )
        : null,
    ],
    ["Attempt", found.run_attempt],
    ["Commit", found.head_sha?.slice(0, 12)],
    ["Environment", found.environment],
    ["Deployment", found.deployment_id],
    ["Job id", found.job_id],
  ]);
}
