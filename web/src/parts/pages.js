/* Pagination links; the cursor is in the URL. */

import { link } from "../address.js";
import { el } from "../dom.js";

export function pages({ installation, view, id, query, next, note }) {
  const button = (name, text, cursor) =>
    el("a", { id: name, class: "button", href: link(installation, view, id, { ...query, cursor }) }, text);
  return el(
    "footer",
    { class: "pages" },
    el("span", {}, note),
    query.cursor && button("newest", "Newest", ""),
    next && button("older", "Older", next),
  );
}
