/* Heads: is the default branch of each repository green, and since when? */

import { link } from "../address.js";
import * as api from "../api.js";
import { el, userText } from "../dom.js";
import { age, count, lasting } from "../format.js";
import { live } from "../live.js";
import { pages } from "../parts/pages.js";
import { choices, panel, tile } from "../parts/panel.js";
import { headBadge, releasesAreOff, runLink } from "../parts/releases.js";
import { empty, ways } from "../parts/states.js";
import { table } from "../parts/table.js";

const REFRESH_MS = 15_000;
const PAGE = 200;
const SHOWN = { all: "All", red: "Red", green: "Green" };

export const heads = {
  title: () => "Heads",
  controls: (context) => context.me.releases && stateChoices(context),
  draw(context) {
    if (!context.me.releases) return releasesAreOff(context);
    const { installation, query } = context;
    const load = (signal) => api.get(api.of(installation, "heads"), { limit: PAGE, cursor: query.cursor }, signal);
    const next = () => ways([link(installation, "heads"), "View the first page"]);
    return live(el("div", { class: "stack" }), { context, every: REFRESH_MS, load, draw: (found) => drawHeads(found, context), next });
  },
};

function stateChoices({ installation, query }) {
  const options = Object.entries(SHOWN).map(([value, text]) => ({
    value,
    text,
    href: link(installation, "heads", undefined, { ...query, state: value }),
  }));
  return choices("State", options, shownState(query));
}

function shownState({ state }) {
  return SHOWN[state] ? state : "all";
}

function drawHeads({ items, next_cursor: next }, context) {
  const { installation, query } = context;
  if (!items.length && !query.cursor)
    return panel(
      null,
      empty(
        "No heads yet",
        "A head appears when GitHub reports a run on the default branch of a repository. This needs the webhook Workflow runs.",
        ways([link(installation, "jobs"), "View jobs"]),
      ),
    );
  const state = shownState(query);
  const shown = items.filter((head) => state === "all" || head.state === state);
  return [
    tiles(items, context),
    panel(
      null,
      shown.length ? headsTable(shown, context) : empty(`No ${SHOWN[state].toLowerCase()} heads`, "Choose another state."),
      (next || query.cursor) && pages({ installation, view: "heads", query, next, note: `${count(items.length)} heads on this page` }),
    ),
  ];
}

function tiles(items, { installation, query }) {
  const number = (state) => items.filter((head) => head.state === state).length;
  const href = (state) => link(installation, "heads", undefined, { ...query, state });
  const repositories = new Set(items.map((head) => head.repo_full_name));
  return el(
    "div",
    { class: "tiles" },
    tile("Red", count(number("red")), { kind: "failure", href: href("red") }),
    tile("Green", count(number("green")), { kind: "success", href: href("green") }),
    tile("Repositories", count(repositories.size), { note: "with runs on their default branch" }),
  );
}

function headsTable(items, { installation }) {
  const columns = [
    {
      title: "Repository",
      grow: true,
      cell: (head) => [
        el(
          "a",
          {
            class: "row-link cut",
            href: link(installation, "branch", head.repo_full_name, { branch: head.is_default_branch ? "" : head.branch }),
          },
          userText(head.repo_full_name),
        ),
        el("small", {}, userText(head.branch)),
      ],
    },
    { title: "Workflow", grow: true, cell: (head) => userText(head.workflow_name) },
    { title: "State", cell: (head) => [headBadge(head.state), head.since && el("small", {}, "for ", lasting(head.since))] },
    { title: "Last run", wide: true, cell: (head) => ran(head.last_run, installation) },
    { title: "Last green run", wide: true, cell: (head) => ran(head.last_green_run, installation) },
  ];
  return table("Heads", columns, items);
}

function ran(run, installation) {
  if (!run) return "–";
  return [runLink(installation, run, age(run.completed_at ?? run.created_at)), run.actor && el("small", {}, userText(run.actor))];
}
