/* Suspected orphans, passes of the reconciler, and dead-letter queues. */

import { go, link } from "../address.js";
import * as api from "../api.js";
import { el, userText } from "../dom.js";
import { count } from "../format.js";
import { live } from "../live.js";
import { confirm } from "../parts/confirm.js";
import { panel } from "../parts/panel.js";
import { empty } from "../parts/states.js";
import { table } from "../parts/table.js";
import { isOperator } from "../session.js";
import { drawOrphans, loadOrphans } from "./orphans.js";
import { drawPasses } from "./passes.js";

const REFRESH_MS = 15_000;
const PAGE = 25;

export const reconciler = {
  title: () => "Reconciler",
  controls: (context) =>
    isOperator(context.me) &&
    context.me.installations === null &&
    ["quick", "full"].map((pass) =>
      el("button", { type: "button", id: `run-${pass}`, click: () => confirmRun(pass, context) }, `Run a ${pass} pass`),
    ),
  draw(context) {
    const orphans = (signal) => loadOrphans(context, signal);
    const passes = (signal) =>
      api.get("admin/reconciliation", { limit: PAGE, cursor: context.query.cursor }, signal);
    const letters = (signal) => api.get("admin/dead-letters", {}, signal);
    return [
      panel(
        "Orphans",
        live(el("div"), { context, every: REFRESH_MS, load: orphans, draw: (found) => drawOrphans(found, context) }),
      ),
      panel(
        "Passes",
        live(el("div"), {
          context,
          every: context.query.cursor ? 0 : REFRESH_MS,
          load: passes,
          draw: (found) => drawPasses(found, context),
        }),
      ),
      panel("Dead-letter queues", live(el("div"), { context, every: REFRESH_MS * 4, load: letters, draw: drawLetters })),
    ];
  },
};

async function confirmRun(pass, context) {
  const done = await confirm({
    title: `Run a ${pass} pass?`,
    body: el(
      "p",
      {},
      pass === "full"
        ? "A full pass compares every open job and runner with GitHub and AWS, and repairs differences."
        : "A quick pass checks stuck jobs and runners, and repairs them.",
    ),
    verb: "Run",
    act: () => api.post("admin/reconciliation/run", { pass }),
  });
  if (done) go(link(context.installation, "pass", done.id));
}

function drawLetters({ items }) {
  const full = items.filter((each) => each.messages > 0);
  if (!full.length) return empty("No messages", "No message has exceeded its retries.");
  return table(
    "Dead-letter queues",
    [
      { title: "Queue", grow: true, cell: (row) => userText(row.queue) },
      { title: "Messages", numeric: true, cell: (row) => count(row.messages) },
    ],
    full,
  );
}
