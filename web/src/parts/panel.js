/* Building blocks of views. */

import { el, userText } from "../dom.js";

export function panel(title, ...body) {
  return el("section", { class: "panel" }, title && el("h2", {}, title), body);
}

export function tile(label, value, { note, href, kind } = {}) {
  const inside = [
    el("span", { class: `tile-label ${kind ? `badge kind-${kind}` : ""}` }, label),
    el("span", { class: "tile-value" }, value),
    note && el("span", { class: "tile-note" }, note),
  ];
  return href ? el("a", { class: "tile", href }, inside) : el("div", { class: "tile" }, inside);
}

/** Names and values; missing values are omitted. */
export function facts(pairs) {
  const known = pairs.filter(([, value]) => value !== undefined && value !== null && value !== "" && value !== "–");
  return el(
    "dl",
    { class: "facts" },
    known.map(([name, value]) => [el("dt", {}, name), el("dd", {}, asNode(value))]),
  );
}

function asNode(value) {
  return value instanceof Node || Array.isArray(value) ? value : userText(value);
}

/** An external link, or null if the URL isn't http or https. */
export function outward(url, text) {
  if (!/^https?:\/\//i.test(url ?? "")) return null;
  return el("a", { href: url, rel: "noopener noreferrer", target: "_blank", class: "outward" }, text);
}

/** A commit on GitHub, next to a page of Actions. */
export function commit(sha, actionsUrl) {
  if (!sha) return null;
  const [repository, page] = String(actionsUrl ?? "").split("/actions/");
  return (page && outward(`${repository}/commit/${sha}`, sha.slice(0, 12))) || userText(sha.slice(0, 12), { class: "mono" });
}

/** A choice between links, so it is part of the URL. */
export function choices(label, options, chosen) {
  return el(
    "nav",
    { class: "choices", "aria-label": label },
    options.map(({ value, text, href, kind, note }) =>
      el(
        "a",
        { href, id: `choice-${value}`, "aria-current": value === chosen ? "true" : null },
        kind ? el("span", { class: `badge kind-${kind}` }, text) : text,
        note,
      ),
    ),
  );
}
