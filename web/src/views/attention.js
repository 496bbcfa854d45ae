/* Problems that need attention, each with advice. */

import { link } from "../address.js";
import * as api from "../api.js";
import { el, userText } from "../dom.js";
import { age, count, running } from "../format.js";
import { outward } from "../parts/panel.js";
import { empty } from "../parts/states.js";
import { shortRunner, why } from "../parts/runner.js";

const MAX_ROWS = 12;

export function loadAttention({ installation }) {
  return async (signal) => {
    const [stuck, approvals, orphans] = await Promise.all([
      api.get(api.of(installation, "stuck"), {}, signal),
      api.get(api.of(installation, "approvals", "waiting"), {}, signal),
      api.get("admin/orphans", { status: "suspected" }, signal),
    ]);
    return {
      stuck: stuck.items,
      truncated: stuck.truncated,
      forgotten: approvals.items.filter((each) => each.forgotten),
      orphans: orphans.orphans.filter((each) => !each.installation_id || String(each.installation_id) === installation),
    };
  };
}

export function drawAttention({ stuck, truncated, forgotten, orphans }, { installation }) {
  const rows = [
    ...stuck.filter((each) => !isForgotten(each, forgotten)).map((each) => stuckJob(each, installation)),
    ...forgotten.map((each) => approval(each, installation)),
    ...orphans.map((each) => orphan(each, installation)),
  ];
  if (!rows.length) return empty("No problems found", "There are no stuck jobs, forgotten approvals or orphaned runners.");
  const left = rows.length - MAX_ROWS;
  return [
    truncated &&
      el("p", { class: "notice" }, "There are more stuck jobs than can be read at once. Only the oldest are listed."),
    el(
      "ul",
      { class: "attention" },
      rows.slice(0, MAX_ROWS),
      left > 0 && el("li", {}, `and ${truncated ? "at least " : ""}${count(left)} more`),
    ),
  ];
}

/** Avoids listing a job that waits for a forgotten approval twice. */
function isForgotten({ kind, job }, forgotten) {
  return kind === "waiting" && forgotten.some((each) => each.job_ids.map(String).includes(String(job.job_id)));
}

function stuckJob({ kind, seconds, job, advice }, installation) {
  const what =
    {
      queued: "Queued too long",
      scheduled: "Runner didn't start",
      in_progress: "Running too long",
      waiting: "Waiting too long",
    }[kind] ?? "Stuck";
  const name = el(
    "a",
    { id: `stuck-${job.job_id}`, href: link(installation, "job", job.job_id) },
    userText(job.job_name ?? job.job_id),
  );
  return row("failure", what, ["stuck for ", growing(seconds)], [name, userText(job.repo_full_name)], advice);
}

/** The API's clock decides, so a wrong clock of the browser doesn't matter. */
function growing(known) {
  const loaded = Date.now();
  return running(() => known + (Date.now() - loaded) / 1000);
}

function approval(each, installation) {
  const name = el(
    "a",
    {
      id: `approval-${each.run_id}-${each.environment}`,
      href: link(installation, "run", each.run_id, { attempt: each.run_attempt }),
    },
    userText(`Approval for ${each.environment ?? "an environment"}`),
  );
  const github = each.run_html_url && outward(each.run_html_url, "Review on GitHub");
  return row(
    "waiting",
    "Forgotten approval",
    age(each.waiting_since),
    [name, userText(each.repo_full_name)],
    "Approve or reject it, or cancel the run.",
    github,
  );
}

function orphan(each, installation) {
  const name = el(
    "a",
    { id: `orphan-${each.runner_id}`, href: link(installation, "reconciler") },
    userText(shortRunner(each.runner_id), { title: each.runner_id }),
  );
  return row(
    "failure",
    "Orphaned runner",
    age(each.detected_at),
    [name, userText(each.pool_name ?? each.kind)],
    each.due_at
      ? `${why(each)}. The reconciler cleans it up, or you can do it now.`
      : `${why(each)}. It stays until you clean it up, because this deployment only reports orphans.`,
  );
}

function row(kind, what, since, names, advice, action) {
  return el(
    "li",
    {},
    el("span", { class: `badge kind-${kind}` }, what),
    el(
      "span",
      { class: "attention-name" },
      names.flatMap((name, at) => (at ? [" · ", name] : [name])),
    ),
    el("span", { class: "attention-age" }, since),
    el("span", { class: "attention-advice" }, userText(advice, { title: null }), action && [" ", action]),
  );
}
