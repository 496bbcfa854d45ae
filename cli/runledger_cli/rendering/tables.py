"""Renders tables with aligned columns. On a terminal, names are shortened and columns omitted until the table fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from runledger_cli.rendering.formatting import printable, shorten, width
from runledger_cli.rendering.style import Style, Tone

GAP = "  "
NARROWEST = 10


@dataclass(frozen=True, slots=True)
class Cell:
    value: object
    tone: Tone = Tone.PLAIN

    @property
    def text(self) -> str:
        return printable(self.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    title: str
    right: bool = False
    shrinks: bool = False
    optional: int = 0  # omitted on a narrow terminal, the highest number first; 0 is always shown
    flows: bool = False  # a last column of prose, which the terminal wraps; it doesn't count towards the width

    def aligned(self, text: str, columns: int) -> str:
        short = shorten(text, columns) if self.shrinks else text
        padding = " " * (columns - width(short))
        return padding + short if self.right else short + padding


Row = Sequence[Cell | object]


def table(style: Style, columns: Sequence[Column], rows: Sequence[Row]) -> list[str]:
    cells = [[each if isinstance(each, Cell) else Cell(each) for each in row] for row in rows]
    widths = [max(width(column.title), *(width(row[at].text) for row in cells), 0) for at, column in enumerate(columns)]
    if not _shrink(style, columns, widths) and (least := max(each.optional for each in columns)):
        kept = [at for at, column in enumerate(columns) if column.optional != least]
        return table(style, [columns[at] for at in kept], [[row[at] for at in kept] for row in cells])
    head = [Cell(column.title, Tone.STRONG) for column in columns]
    return [_line(style, columns, widths, row) for row in (head, *cells)]


def pairs(style: Style, facts: Sequence[tuple[str, Cell | object]]) -> list[str]:
    """Names and values, one per line. Missing values are omitted."""
    known = [(name, each if isinstance(each, Cell) else Cell(each)) for name, each in facts]
    known = [(name, cell) for name, cell in known if cell.value is not None]
    longest = max((len(name) for name, _ in known), default=0)
    return [
        f"  {style.paint(name.ljust(longest), Tone.FAINT)}{GAP}{style.paint(cell.text, cell.tone)}"
        for name, cell in known
    ]


def _shrink(style: Style, columns: Sequence[Column], widths: list[int]) -> bool:
    """Returns whether the table fits."""
    if style.width is None:
        return True
    elastic = [at for at, column in enumerate(columns) if column.shrinks]
    flowing = [size for size, column in zip(widths, columns, strict=True) if column.flows]
    while sum(widths) - sum(flowing) + len(GAP) * (len(widths) - 1) > style.width:
        widest = max(elastic, key=lambda at: widths[at], default=None)
        if widest is None or widths[widest] <= NARROWEST:
            return False
        widths[widest] -= 1
    return True


def _line(style: Style, columns: Sequence[Column], widths: Sequence[int], row: Sequence[Cell]) -> str:
    texts = [column.aligned(cell.text, size) for column, size, cell in zip(columns, widths, row, strict=True)]
    texts[-1] = texts[-1].rstrip()
    return GAP.join(style.paint(text, cell.tone) for text, cell in zip(texts, row, strict=True)).rstrip()
