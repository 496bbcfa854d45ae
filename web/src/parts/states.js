/* Placeholders: loading, empty, or an error. Each names what is wrong, and what to do next. */

import { el } from "../dom.js";

const INVALID = new Set([400, 422]);

export function loading() {
  const lines = [70, 95, 85, 60].map((width) => el("div", { class: `bone bone-${width}` }));
  return el("div", { class: "loading" }, el("span", { class: "visually-hidden" }, "Loading"), lines);
}

export function empty(title, advice, ...more) {
  return el("div", { class: "empty" }, el("p", { class: "empty-title" }, title), advice && el("p", {}, advice), more);
}

/** Links to where the user can go on, as pairs of an address and a text. */
export function ways(...links) {
  return el(
    "p",
    { class: "ways" },
    links.filter(Boolean).map(([href, text]) => el("a", { class: "button", href }, text)),
  );
}

/** Why a job or run is missing, and where to look for it. */
export function notRecorded(...links) {
  const reasons = "belong to another installation, have expired, or have run before Runledger was set up";
  return [el("p", {}, `It may ${reasons}.`), ways(...links)];
}

/** `next` is advice for an error that retrying won't fix: something is missing, or the request isn't valid. */
export function failure(error, retry, next) {
  if (error.status === 403) return forbidden(error);
  const isFinal = error.status === 404 || INVALID.has(error.status);
  return el(
    "div",
    { class: "empty error", role: "alert" },
    el("p", { class: "empty-title" }, titleOf(error)),
    el("p", {}, error.message),
    isFinal ? next : el("button", { type: "button", click: retry }, "Try again"),
  );
}

function titleOf({ status, title }) {
  if (status === 404) return "Not found";
  if (INVALID.has(status)) return "This link isn't valid";
  return status ? `${title} (${status})` : (title ?? "Something went wrong");
}

/** Not an error: another token may see it, and trying again doesn't help. */
function forbidden(error) {
  return empty(
    "Not visible with your token",
    "This is about all installations, and your token is limited to some of them. Ask your Runledger operator for another token.",
    el("p", { class: "hint" }, error.message),
  );
}
