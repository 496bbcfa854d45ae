/* Placeholders: loading, empty, or an error. */

import { el } from "../dom.js";

export function loading() {
  const lines = [70, 95, 85, 60].map((width) => el("div", { class: `bone bone-${width}` }));
  return el("div", { class: "loading" }, el("span", { class: "visually-hidden" }, "Loading"), lines);
}

export function empty(title, advice, ...more) {
  return el("div", { class: "empty" }, el("p", { class: "empty-title" }, title), advice && el("p", {}, advice), more);
}

export function failure(error, retry) {
  if (error.status === 403) return forbidden(error);
  const title = error.status ? `${error.title} (${error.status})` : (error.title ?? "Something went wrong");
  return el(
    "div",
    { class: "empty error", role: "alert" },
    el("p", { class: "empty-title" }, title),
    el("p", {}, error.message),
    retry && error.status !== 404 && el("button", { type: "button", click: retry }, "Try again"),
  );
}

/** Not an error: another token may see it, and trying again doesn't help. */
function forbidden(error) {
  return empty(
    "Not visible with your token",
    "This is about all installations, and your token is limited to some of them. Ask your Runledger operator for another token.",
    el("p", { class: "hint" }, error.message),
  );
}
