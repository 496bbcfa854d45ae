/* Views for an empty ledger, for an unknown URL, and for an installation that the token doesn't see. */

import { link } from "../address.js";
import { el, userText } from "../dom.js";
import { labelOf } from "../installations.js";
import { empty, ways } from "../parts/states.js";

const SEARCHED = new Set(["job", "run"]);

export const emptyLedger = {
  title: () => "Overview",
  draw: () =>
    empty(
      "No jobs yet",
      "Runledger records jobs from GitHub webhooks. Add a webhook with this URL to your App, organisation or repository:",
      el("code", { class: "address" }, new URL("webhooks/github", document.baseURI).href.split("#")[0]),
    ),
};

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
