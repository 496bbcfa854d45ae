/* An empty ledger, and an address that leads nowhere. */

import { link } from "../address.js";
import { el } from "../dom.js";
import { empty } from "../parts/states.js";

export const nothing = {
  title: () => "Overview",
  draw: () =>
    empty(
      "No jobs yet",
      "Runledger fills itself from GitHub's webhooks. Add one to your App, organisation or repository, with this address:",
      el("code", { class: "address" }, new URL("webhooks/github", document.baseURI).href.split("#")[0]),
    ),
};

export const unknown = {
  title: () => "Not found",
  draw: ({ installation }) =>
    empty(
      "There is no such view",
      "The address may have been cut short.",
      el("a", { href: link(installation, "overview") }, "Overview"),
    ),
};
