/* Keeps a section of the page up to date: loads it, draws it, and reloads it periodically. */

import { link } from "./address.js";
import { replace } from "./dom.js";
import { failure, loading, ways } from "./parts/states.js";

const FIRST_MS = 5000;
const SLOWEST_MS = 300_000;

/**
 * `draw` is only called when the response has changed, so focus and selection are preserved.
 * `every` is the reload interval in milliseconds (0: never), or a function of the response that returns it.
 * `next` returns what is shown below the message of an error that retrying won't fix.
 */
export function live(slot, { load, draw, every, skeleton = loading, next = overview, context }) {
  let shown = null;
  let interval = typeof every === "function" ? FIRST_MS : every;
  let timer = 0;
  let failures = 0;
  const source = context.freshness.source(refresh);

  async function refresh() {
    schedule(0);
    try {
      const response = await load(context.signal);
      if (context.signal.aborted) return;
      const text = JSON.stringify(response);
      if (text !== shown) keepingFocus(slot, () => replace(slot, draw(response)));
      shown = text;
      if (typeof every === "function") interval = every(response);
      failures = 0;
      source.succeeded();
    } catch (error) {
      if (context.signal.aborted) return;
      failures += 1;
      if (shown === null) replace(slot, failure(error, retry, next(context)));
      source.failed(error);
    }
    slot.removeAttribute("aria-busy");
    if (!document.hidden) schedule(Math.min(interval * 2 ** failures, SLOWEST_MS));
  }

  /** Two loads can overlap. There is one timer at a time, because a timer that is not cleared would repeat for ever. */
  function schedule(milliseconds) {
    clearTimeout(timer);
    if (milliseconds) timer = setTimeout(refresh, milliseconds);
  }

  function retry() {
    begin();
    refresh();
  }

  function begin() {
    slot.setAttribute("aria-busy", "true");
    if (shown === null) replace(slot, skeleton());
  }

  function onVisible() {
    if (!document.hidden && interval) refresh();
  }

  begin();
  refresh();
  document.addEventListener("visibilitychange", onVisible, { signal: context.signal });
  context.signal.addEventListener("abort", () => schedule(0));
  return slot;
}

function overview({ installation }) {
  return ways([link(installation, "overview"), "Go to the overview"]);
}

function keepingFocus(slot, change) {
  const focused = slot.contains(document.activeElement) ? document.activeElement.id : "";
  change();
  if (focused) document.getElementById(focused)?.focus();
}
