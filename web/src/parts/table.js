/* Tables. Columns define how cells are drawn and which are hidden on narrow screens. */

import { el } from "../dom.js";

/** `columns`: {title, cell(row), numeric, wide}. `wide` columns are hidden on narrow screens. */
export function table(caption, columns, rows, rowClass = () => "") {
  const style = (column) =>
    [column.numeric && "numeric", column.wide && "wide", column.grow && "grow"].filter(Boolean).join(" ");
  const scroll = el(
    "div",
    { class: "scroll" },
    el(
      "table",
      {},
      el("caption", { class: "visually-hidden" }, caption),
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          columns.map((column) => el("th", { scope: "col", class: style(column) }, column.title)),
        ),
      ),
      el(
        "tbody",
        {},
        rows.map((row) =>
          el(
            "tr",
            { class: rowClass(row) },
            columns.map((column) => el("td", { class: style(column) }, column.cell(row))),
          ),
        ),
      ),
    ),
  );
  // On a narrow screen it scrolls, and the keyboard must reach it.
  if (!scroll.querySelector("td:not(.wide) :is(a, button)")) scroll.tabIndex = 0;
  return scroll;
}
