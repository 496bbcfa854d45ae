/* Views for an empty ledger, for an unknown URL, and for an installation that the token doesn't see. */

import { link } from "../address.js";
import * as api from "../api.js";
import { el, userText } from "../dom.js";
import { labelOf } from "../installations.js";
import { live } from "../live.js";
import { empty, ways } from "../parts/states.js";

const SEARCHED = new Set(["job", "run"]);
const REFRESH_MS = 15_000;

export const emptyLedger = {
  title: () => "Overview",
  draw: (context) =>
    live(el("div"), {
      context,
      every: REFRESH_MS,
      load: (signal) => api.get("v1/installations", {}, signal),
      skeleton: setUp,
      draw: ({ items }) => {
        if (items.length) queueMicrotask(() => context.onInstallations(items));
        return setUp();
      },
    }),
};

function setUp() {
  return empty(
    "No jobs yet",
    "Runledger records jobs from GitHub webhooks. Create a GitHub App for Runledger with the webhook secret of this deployment and this webhook URL:",
    el("code", { class: "address" }, new URL("webhooks/github", document.baseURI).href.split("#")[0]),
    el("p", {}, "Then install the App. docs/github-app.md describes each step. Don't change the App of your launcher: it would no longer start runners."),
    el("p", {}, "A webhook of an organisation or repository works too, with fewer features."),
    el("p", { class: "hint" }, "This page updates automatically."),
  );
}

export const unknownView = {
  title: () => "Not found",
  draw: ({ installation }) =>
    empty(
      "Page not found",
      "The link is incomplete, or it has a mistake.",
      ways([link(installation, "overview"), "Go to the overview"], [link(installation, "jobs"), "View jobs"]),
    ),
};

export const unknownInstallation = {
  title: () => "Not found",
  draw: ({ installations, installation, home, view, id }) =>
    empty(
      ["Installation ", userText(installation), " not found"],
      "Your token has no access to it, or Runledger has received no webhook from it. Choose another installation, or ask your Runledger operator for a token.",
      ways(
        SEARCHED.has(view) && id && [link(home, "lookup", undefined, { q: `${view} ${id}` }), `Search for ${view} ${id}`],
        ...installations.map((each) => [link(each.installation_id, "overview"), labelOf(each, installations)]),
      ),
    ),
};
