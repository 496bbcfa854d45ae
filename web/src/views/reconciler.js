/* What the reconciler found and did, and the orphans that somebody may have cleaned up now. */

import { go, link } from "../address.js";
import * as api from "../api.js";
import { el, words } from "../dom.js";
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
      el("button", { type: "button", id: `run-${pass}`, click: () => ask(pass, context) }, `Run a ${pass} pass`),
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
      panel("Dead letters", live(el("div"), { context, every: REFRESH_MS * 4, load: letters, draw: drawLetters })),
    ];
  },
};

async function ask(pass, context) {
  const done = await confirm({
    title: `Run a ${pass} pass?`,
    body: el(
      "p",
      {},
      pass === "full"
        ? "It compares every open job and runner with GitHub and AWS, and mends what differs."
        : "It looks at stuck jobs and runners, and mends what is wrong.",
    ),
    verb: "Run it",
    act: () => api.post("admin/reconciliation/run", { pass }),
  });
  if (done) go(link(context.installation, "pass", done.id));
}

function drawLetters({ items }) {
  const full = items.filter((each) => each.messages > 0);
  if (!full.length) return empty("No dead letters", "Nothing failed so often that it was put aside.");
  return table(
    "Dead letters",
    [
      { title: "Queue", grow: true, cell: (row) => words(row.queue) },
      { title: "Messages", numeric: true, cell: (row) => count(row.messages) },
    ],
    full,
  );
}
