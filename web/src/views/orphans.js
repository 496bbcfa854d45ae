/* Runners that seem to work for nobody, and a button that has one cleaned up after asking. */

import { go, link } from "../address.js";
import * as api from "../api.js";
import { el, words } from "../dom.js";
import { age } from "../format.js";
import { mark } from "../parts/badge.js";
import { confirm } from "../parts/confirm.js";
import { facts } from "../parts/panel.js";
import { shortRunner, why } from "../parts/runner.js";
import { empty } from "../parts/states.js";
import { table } from "../parts/table.js";
import { isOperator } from "../session.js";

/** A machine that two installations claim is shown to callers who see all installations, and never cleaned. */
export async function loadOrphans(context, signal) {
  const states = context.me.installations === null ? ["suspected", "contested"] : ["suspected"];
  const found = await Promise.all(states.map((status) => api.get("admin/orphans", { status }, signal)));
  return { orphans: found.flatMap((each) => each.orphans) };
}

export function drawOrphans({ orphans }, context) {
  if (!orphans.length) return empty("No orphans", "Every runner has a job, or is too young to be judged.");
  const columns = [
    {
      title: "Runner",
      grow: true,
      cell: (row) => [
        words(shortRunner(row.runner_id), { title: row.runner_id, class: "mono" }),
        el("small", {}, words([row.kind, row.pool_name, row.repo_full_name].filter(Boolean).join(" · "))),
      ],
    },
    { title: "Why", grow: true, wide: true, cell: (row) => words(why(row), { title: null }) },
    {
      title: "Job",
      wide: true,
      cell: (row) =>
        row.job_id && row.installation_id !== undefined
          ? el("a", { href: link(row.installation_id, "job", row.job_id) }, words(row.job_id))
          : "–",
    },
    { title: "Found", numeric: true, wide: true, cell: (row) => age(row.detected_at) },
    { title: el("span", { class: "visually-hidden" }, "Action"), numeric: true, cell: (row) => cleanUp(row, context) },
  ];
  return [
    table("Suspected orphans", columns, orphans),
    !isOperator(context.me) && el("p", { class: "hint" }, "Cleaning up needs an operator's token."),
  ];
}

function cleanUp(orphan, context) {
  if (orphan.status === "cleaning" || orphan.status === "contested") return mark(orphan.status);
  if (!isOperator(context.me)) return null;
  return el(
    "button",
    {
      type: "button",
      id: `clean-${orphan.runner_id}`,
      "aria-label": `Clean up ${shortRunner(orphan.runner_id)}`,
      click: () => askToClean(orphan, context),
    },
    "Clean up",
  );
}

async function askToClean(orphan, context) {
  const done = await confirm({
    title: "Clean up this runner?",
    body: [
      el(
        "p",
        {},
        "The reconciler looks at it once more. If it is still an orphan, its machine is terminated and GitHub forgets the runner.",
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
