/* Where the user was on each page of the browser's history, so that going back returns there. */

const left = new Map();
let current = null;
let number = 0;

// The browser would restore the position before the content has loaded.
history.scrollRestoration = "manual";

/** Call before the content is replaced. */
export function leave() {
  const { scrollHeight: height } = document.documentElement;
  if (current) left.set(current, { top: window.scrollY, height, focused: document.activeElement?.id });
}

/** Returns where the user left this entry of the history, or null if it is new. */
export function arrive() {
  const known = history.state?.entry;
  number += 1;
  current = known ?? `${performance.timeOrigin} ${number}`;
  if (!known) history.replaceState({ entry: current }, "");
  return left.get(current) ?? null;
}

/** Keeps the height until the content has loaded, and the focus for the element that had it. */
export function restore(main, { top, height, focused }, signal) {
  main.style.minHeight = `${height}px`;
  window.scrollTo(0, top);
  if (!focused) return;
  const observer = new MutationObserver(focus);
  const stop = () => observer.disconnect();
  function focus() {
    const node = document.getElementById(focused);
    if (document.activeElement !== document.body) stop();
    else if (node) node.focus({ preventScroll: true });
  }
  observer.observe(main, { childList: true, subtree: true });
  signal.addEventListener("abort", stop);
  focus();
}
