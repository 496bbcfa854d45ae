/* Shows when the page was last refreshed, or why a refresh failed. */

import { el, replace } from "./dom.js";
import { duration, local } from "./format.js";

export class Freshness {
  #sources = new Set();

  constructor(signal) {
    this.node = el("p", { class: "freshness", role: "status" });
    const timer = setInterval(() => this.#show(), 1000);
    signal.addEventListener("abort", () => clearInterval(timer));
  }

  source(refresh) {
    const source = { at: null, error: null, refresh };
    this.#sources.add(source);
    return {
      succeeded: () => this.#set(source, Date.now(), null),
      failed: (error) => this.#set(source, source.at, error),
    };
  }

  #set(source, at, error) {
    Object.assign(source, { at, error });
    this.#show();
  }

  #show() {
    const known = [...this.#sources].filter((source) => source.at);
    if (!known.length) return replace(this.node);
    const oldest = Math.min(...known.map((source) => source.at));
    const failed = known.find((source) => source.error);
    this.node.classList.toggle("failed", Boolean(failed));
    if (!failed) return this.#showAge(oldest);
    if (this.shownError === failed.error) return null; // screen readers would announce it again
    this.shownError = failed.error;
    const since = local(new Date(oldest).toISOString());
    return replace(
      this.node,
      el("span", {}, `Not refreshed since ${since}: ${failed.error.message}`),
      el("button", { type: "button", class: "plain", click: () => this.#refreshAll() }, "Try again"),
    );
  }

  #showAge(oldest) {
    this.shownError = null;
    const passed = Math.floor((Date.now() - oldest) / 1000);
    // Hidden from screen readers, which would announce the age every second.
    const text =
      passed < 5 ? "Updated just now" : `Updated ${duration(passed < 60 ? passed : passed - (passed % 60))} ago`;
    replace(this.node, el("span", { "aria-hidden": "true" }, text));
  }

  #refreshAll() {
    for (const source of this.#sources) source.refresh();
  }
}
