/* The frame around every view: navigation, search and the account. */

import { go, link } from "./address.js";
import { el, replace, userText } from "./dom.js";
import { zone } from "./format.js";
import { isKnown, labelOf } from "./installations.js";

// What is kept when another installation is chosen. A pass covers all installations; every other id belongs to one.
const COUNTERPARTS = {
  job: "jobs", run: "jobs", lookup: "jobs", repository: "repositories", subscription: "notifications", message: "notifications",
  branch: "heads", environment: "environments", release: "releases", build: "releases", packages: "releases",
};
const PLACES = [
  ["overview", "Overview", ["overview"]],
  ["jobs", "Jobs", ["jobs", "job", "run", "lookup"]],
  ["repositories", "Repositories", ["repositories", "repository"]],
  ["pools", "Pools", ["pools"]],
  ["heads", "Heads", ["heads", "branch"]],
  ["environments", "Environments", ["environments", "environment"]],
  ["releases", "Releases", ["releases", "release", "build", "packages"]],
  ["reconciler", "Reconciler", ["reconciler", "pass"]],
  ["notifications", "Notifications", ["notifications", "subscription", "message"]],
];
// Shown only where the deployment has them; the values are fields of the account.
const OPTIONAL = { heads: "releases", environments: "releases", releases: "releases", notifications: "notifications" };

export function shell(context, view, title) {
  const heading = el("h1", {}, userText(title));
  const main = el(
    "main",
    { id: "main", tabindex: "-1", "data-view": context.view },
    el(
      "header",
      { class: "head" },
      heading,
      context.freshness.node,
      view.controls && el("div", { class: "controls" }, view.controls(context)),
    ),
    view.draw({ ...context, rename: (name) => rename(heading, name) }),
    el("footer", { class: "zone" }, `Times are in ${zone()}. Charts show hours and days in UTC.`),
  );
  return [
    el("a", { class: "skip", href: "#main", click: (event) => skip(event, main) }, "Skip to content"),
    el("div", { class: "frame" }, aside(context), main),
  ];
}

function aside(context) {
  return el(
    "header",
    { class: "side" },
    el(
      "a",
      { class: "brand", href: link(context.home, "overview") },
      el("span", { class: "logo", "aria-hidden": "true" }),
      "Runledger",
    ),
    // Every view and every search is about an installation.
    context.home && [installations(context), search(context), places(context)],
    account(context),
  );
}

function places(context) {
  return el(
    "nav",
    { class: "places", "aria-label": "Views" },
    PLACES.filter(([view]) => !OPTIONAL[view] || context.me[OPTIONAL[view]]).map(([view, text, views]) =>
      el(
        "a",
        {
          href: link(context.home, view),
          id: `place-${view}`,
          "aria-current": views.includes(context.view) ? "page" : null,
        },
        text,
      ),
    ),
  );
}

function installations(context) {
  const { installations: known, installation } = context;
  const named = isKnown(known, installation);
  if (known.length < 2 && named) return null;
  const options = known.map((each) =>
    el(
      "option",
      { value: each.installation_id, selected: String(each.installation_id) === installation },
      labelOf(each, known),
    ),
  );
  return el(
    "label",
    { class: "switcher" },
    el("span", { class: "visually-hidden" }, "Installation"),
    el(
      "select",
      { id: "installation", change: (event) => go(counterpart(context, event.target.value)) },
      !named && el("option", { value: installation, selected: true }, installation),
      options,
    ),
  );
}

/** The same view of another installation. What only one installation has is replaced by the list that it is in. */
function counterpart({ view, id, query }, installation) {
  if (view === "pass") return link(installation, view, id);
  const known = PLACES.some(([, , views]) => views.includes(view)) ? view : "overview";
  const { range, status } = query;
  return link(installation, COUNTERPARTS[known] ?? known, undefined, { range, status });
}

function search({ home }) {
  const input = el("input", {
    id: "search",
    type: "search",
    name: "search",
    placeholder: "Id, URL, repository",
    "aria-label": "Search by job or run id, GitHub URL or repository",
    autocomplete: "off",
    spellcheck: "false",
  });
  const find = (event) => {
    event.preventDefault();
    const query = input.value.trim();
    if (query) go(link(home, "lookup", undefined, { q: query }));
  };
  return el(
    "form",
    { class: "search", role: "search", submit: find },
    input,
    el("kbd", { "aria-hidden": "true" }, "/"),
  );
}

function account({ me }) {
  return el(
    "div",
    { class: "account" },
    el("span", {}, userText(me.name), el("small", {}, me.role)),
    el(
      "button",
      { type: "button", class: "plain", click: () => window.dispatchEvent(new Event("runledger:sign-out")) },
      "Sign out",
    ),
  );
}

/** The name of a job is only known after it has loaded. */
function rename(heading, name) {
  document.title = `${name} · Runledger`;
  replace(heading, userText(name));
}

/** Moves the focus without changing the URL hash, which selects the view. */
function skip(event, main) {
  event.preventDefault();
  main.focus();
}
