/* A pass of the reconciler or a cleanup, refreshed until it has finished. */

import { link } from "../address.js";
import * as api from "../api.js";
import { el, userText } from "../dom.js";
import { duration, seconds, time } from "../format.js";
import { live } from "../live.js";
import { named, passBadge } from "../parts/badge.js";
import { counter } from "../parts/counters.js";
import { facts, panel } from "../parts/panel.js";
import { finding, runnerLink } from "../parts/findings.js";
import { empty, ways } from "../parts/states.js";

const REFRESH_MS = 3000;

export const pass = {
  title: () => "Reconciler pass",
  isComplete: ({ id }) => Boolean(id),
  draw(context) {
    const load = (signal) => api.get(`admin/reconciliation/${encodeURIComponent(context.id)}`, {}, signal);
    return live(el("div", { class: "stack" }), {
      context,
      every: ({ status }) => (isOver(status) ? 0 : REFRESH_MS),
      load,
      draw: (found) => show(found, context),
      next: () => [el("p", {}, "Passes are kept for 14 days."), ways([link(context.installation, "reconciler"), "View passes"])],
    });
  },
};

function show(found, context) {
  context.rename(found.pass === "cleanup" ? "Cleanup" : `${named(found.pass)} pass`);
  const counted = Object.entries(found.summary ?? {})
    .filter(([, value]) => value !== 0)
    .map(([name, value]) => [counter(name), value]);
  return [
    el("p", { class: "summary" }, passBadge(found), userText(found.id, { class: "mono" })),
    el(
      "div",
      { class: "columns" },
      panel(found.pass === "cleanup" ? "Result" : "Findings", findings(found, context)),
      panel(
        "Details",
        facts([
          ["Requested by", found.requested_by ?? "schedule"],
          ["Started", found.started_at && time(found.started_at)],
          ["Finished", found.finished_at && time(found.finished_at)],
          ["Duration", duration(seconds(found.started_at, found.finished_at))],
          ...counted,
        ]),
      ),
    ),
  ];
}

const isOver = (status) => status === "finished" || status === "failed";

function findings({ findings: found = [], status, pass: kind }, context) {
  if (found.length)
    return el(
      "ul",
      { class: "findings" },
      found.map((each) => el("li", {}, kind === "cleanup" ? cleanupResult(each, context) : finding(each, context))),
    );
  if (status === "failed") return empty("No result", "The pass crashed or was never started: see the reconciler's log.");
  if (status === "finished") return empty("No problems found", "The ledger, GitHub and AWS agree.");
  return empty("In progress", "This page updates automatically.");
}

/** The result in words, such as "Not cleaned: GitHub reports this runner as busy", and the runner below it. */
function cleanupResult(text, context) {
  const [, runner, result] = /^runner (\S+): (.*)$/s.exec(text) ?? [null, null, text];
  const sentence = result.replace(/^./, (first) => first.toUpperCase());
  return [
    el("strong", {}, userText(sentence, { title: null })),
    runner && el("small", { class: "mono" }, runnerLink(runner, context)),
  ];
}
