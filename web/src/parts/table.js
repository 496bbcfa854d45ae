/* Tables: columns say how a row's cell is made, and which of them a phone can do without. */

import { el } from "../dom.js";

/** `columns`: {title, cell(row), numeric, wide}. Columns that are `wide` are left out where there is no room. */
export function table(caption, columns, rows, rowClass = () => "") {
  const style = (column) =>
    [column.numeric && "numeric", column.wide && "wide", column.grow && "grow"].filter(Boolean).join(" ");
  return el(
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
}
