/* Views for an empty ledger and for an unknown URL. */

import { link } from "../address.js";
import { el } from "../dom.js";
import { empty } from "../parts/states.js";

export const emptyLedger = {
  title: () => "Overview",
  draw: () =>
    empty(
      "No jobs yet",
      "Runledger records jobs from GitHub webhooks. Add a webhook with this URL to your App, organization or repository:",
      el("code", { class: "address" }, new URL("webhooks/github", document.baseURI).href.split("#")[0]),
    ),
};

export const unknownView = {
  title: () => "Not found",
  draw: ({ installation }) =>
    empty(
      "Page not found",
      "The link may be incomplete.",
      el("a", { href: link(installation, "overview") }, "Go to the overview"),
    ),
};
