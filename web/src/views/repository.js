/* Statistics of a repository. */

import { link } from "../address.js";
import { el } from "../dom.js";
import { live } from "../live.js";
import { drawStatistics, loadStatistics, range, rangeChoices } from "./statistics.js";

const REFRESH_MS = 120_000;

export const repository = {
  title: ({ query }) => query.repo ?? "Repository",
  isComplete: ({ query }) => /^[^/\s]+\/[^/\s]+$/.test(query.repo ?? ""),
  controls: (context) => [
    el(
      "a",
      {
        class: "button",
        href: link(context.installation, "jobs", undefined, { repo: context.query.repo, since: range(context.query) }),
      },
      "View jobs",
    ),
    rangeChoices(context),
  ],
  draw(context) {
    const load = loadStatistics({ ...context, repo: context.query.repo });
    return live(el("div", { class: "stack" }), {
      context,
      every: REFRESH_MS,
      load,
      draw: (statistics) => drawStatistics(statistics, context),
    });
  },
};
