/* Keeps a part of the page true: loads, draws, loads again, and says how old it is when that fails. */

import { replace } from "./dom.js";
import { failure, loading } from "./parts/states.js";

const FIRST_MS = 5000;
const SLOWEST_MS = 300_000;

/**
 * `draw` is called only when the answer differs from the last one, so that nobody's focus or selection is lost.
 * `every` tells after how many milliseconds to load again: never for 0, and an answer may decide it.
 */
export function live(slot, { load, draw, every, skeleton = loading, context }) {
  let shown = null;
  let pause = typeof every === "function" ? FIRST_MS : every;
  let timer = 0;
  let failures = 0;
  const source = context.freshness.source(refresh);

  async function refresh() {
    clearTimeout(timer);
    try {
      const answer = await load(context.signal);
      if (context.signal.aborted) return;
      const text = JSON.stringify(answer);
      if (text !== shown) keepingFocus(slot, () => replace(slot, draw(answer)));
      shown = text;
      if (typeof every === "function") pause = every(answer);
      failures = 0;
      source.succeeded();
    } catch (error) {
      if (context.signal.aborted) return;
      failures += 1;
      if (shown === null) replace(slot, failure(error, again));
      source.failed(error);
    }
    slot.removeAttribute("aria-busy");
    if (pause && !document.hidden) timer = setTimeout(refresh, Math.min(pause * 2 ** failures, SLOWEST_MS));
  }

  function again() {
    begin();
    refresh();
  }

  function begin() {
    slot.setAttribute("aria-busy", "true");
    if (shown === null) replace(slot, skeleton());
  }

  function onVisible() {
    if (!document.hidden && pause) refresh();
  }

  begin();
  refresh();
  document.addEventListener("visibilitychange", onVisible, { signal: context.signal });
  context.signal.addEventListener("abort", () => clearTimeout(timer));
  return slot;
}

function keepingFocus(slot, change) {
  const focused = slot.contains(document.activeElement) ? document.activeElement.id : "";
  change();
  if (focused) document.getElementById(focused)?.focus();
}
