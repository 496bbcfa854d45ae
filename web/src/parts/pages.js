/* Pagination links; the cursor is in the URL. */

import { link } from "../address.js";
import { el } from "../dom.js";

export function pages({ installation, view, query, next, note }) {
  const button = (id, text, cursor) =>
    el("a", { id, class: "button", href: link(installation, view, undefined, { ...query, cursor }) }, text);
  return el(
    "footer",
    { class: "pages" },
    el("span", {}, note),
    query.cursor && button("newest", "Newest", ""),
    next && button("older", "Older", next),
  );
}
