/* Suspected orphans, with a button to clean up each of them. */

import { go, link } from "../address.js";
import * as api from "../api.js";
import { el, userText } from "../dom.js";
import { age } from "../format.js";
import { mark } from "../parts/badge.js";
import { confirm } from "../parts/confirm.js";
import { facts } from "../parts/panel.js";
import { shortRunner, why } from "../parts/runner.js";
import { empty } from "../parts/states.js";
import { table } from "../parts/table.js";
import { isOperator } from "../session.js";

const UNKNOWN_JOB = "unknown_job";
const UNKNOWN_JOB_ADVICE =
  "A runner that works on an unknown job isn't terminated. If it stays here, check that Runledger receives the webhooks of the repository that the job belongs to.";

/** Contested machines are visible only to callers with access to all installations. */
export async function loadOrphans(context, signal) {
  const states = ["suspected", ...(context.me.installations === null ? ["contested"] : []), UNKNOWN_JOB];
  const found = await Promise.all(states.map((status) => api.get("admin/orphans", { status }, signal)));
  return { orphans: found.flatMap((each) => each.orphans) };
}

export function drawOrphans({ orphans }, context) {
  if (!orphans.length) return [searched(orphans, context), empty("No orphans", "Every runner has a job or was started recently.")];
  const columns = [
    {
      title: "Runner",
      grow: true,
      cell: (row) => [
        userText(shortRunner(row.runner_id), { title: row.runner_id, class: "mono" }),
        el("small", {}, userText([row.kind, row.pool_name, row.repo_full_name].filter(Boolean).join(" · "))),
        el("small", { class: "narrow" }, userText(why(row), { title: null })),
      ],
    },
    { title: "Why", grow: true, wide: true, cell: (row) => userText(why(row), { title: null }) },
    {
      title: "Job",
      wide: true,
      cell: (row) =>
        row.job_id && row.installation_id !== undefined
          ? [
              el("a", { href: link(row.installation_id, "job", row.job_id) }, userText(row.job_id)),
              row.status === UNKNOWN_JOB && el("small", {}, "last known job"),
            ]
          : "–",
    },
    { title: "Found", numeric: true, wide: true, cell: (row) => age(row.detected_at) },
    { title: el("span", { class: "visually-hidden" }, "Action"), numeric: true, cell: (row) => cleanUp(row, context) },
  ];
  return [
    searched(orphans, context),
    table("Runners", columns, orphans, (row) => (row.runner_id === context.query.runner ? "chosen" : "")),
    orphans.some((row) => row.status === UNKNOWN_JOB) && el("p", { class: "hint below" }, UNKNOWN_JOB_ADVICE),
    !isOperator(context.me) && el("p", { class: "hint below" }, "Cleaning up requires an operator token."),
  ];
}

/** The runner that a finding links to may no longer be an orphan. */
function searched(orphans, { query: { runner } }) {
  if (!runner || orphans.some((row) => row.runner_id === runner)) return null;
  return el(
    "p",
    { class: "notice" },
    userText(shortRunner(runner), { title: runner, class: "mono" }),
    " isn't an orphan now: it has ended, or it has a job.",
  );
}

function cleanUp(orphan, context) {
  if (["cleaning", "contested", UNKNOWN_JOB].includes(orphan.status)) return mark(orphan.status);
  if (!isOperator(context.me)) return null;
  return el(
    "button",
    {
      type: "button",
      id: `clean-${orphan.runner_id}`,
      "aria-label": `Clean up ${shortRunner(orphan.runner_id)}`,
      click: () => confirmCleanUp(orphan, context),
    },
    "Clean up",
  );
}

async function confirmCleanUp(orphan, context) {
  const done = await confirm({
    title: "Clean up this runner?",
    body: [
      el(
        "p",
        {},
        "The reconciler checks the runner again. If it is still an orphan, its machine is terminated and its registration on GitHub is deleted.",
      ),
      facts([
        ["Runner", orphan.runner_id],
        ["Pool", orphan.pool_name],
        ["Why", why(orphan)],
      ]),
    ],
    verb: "Clean up",
    act: () => api.post(`admin/orphans/${encodeURIComponent(orphan.runner_id)}/cleanup`),
  });
  if (done) go(link(context.installation, "pass", done.id));
}
