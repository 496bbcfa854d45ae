"""Tables with aligned columns: as wide as the text in a pipe, no wider than the terminal on one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from runledger_cli.rendering.look import Look, Tone
from runledger_cli.rendering.words import printable, shorten, width

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
    flows: bool = False  # the last one, if it is prose: the terminal breaks it, and no other gives way to it

    def aligned(self, text: str, columns: int) -> str:
        short = shorten(text, columns) if self.shrinks else text
        padding = " " * (columns - width(short))
        return padding + short if self.right else short + padding


Row = Sequence[Cell | object]


def table(look: Look, columns: Sequence[Column], rows: Sequence[Row]) -> list[str]:
    cells = [[each if isinstance(each, Cell) else Cell(each) for each in row] for row in rows]
    widths = [max(width(column.title), *(width(row[at].text) for row in cells), 0) for at, column in enumerate(columns)]
    _shrink(look, columns, widths)
    head = [Cell(column.title, Tone.STRONG) for column in columns]
    return [_line(look, columns, widths, row) for row in (head, *cells)]


def pairs(look: Look, facts: Sequence[tuple[str, Cell | object]]) -> list[str]:
    """Names and values, one to a line; those without a value are left out."""
    known = [(name, each if isinstance(each, Cell) else Cell(each)) for name, each in facts]
    known = [(name, cell) for name, cell in known if cell.value is not None]
    longest = max((len(name) for name, _ in known), default=0)
    return [
        f"  {look.paint(name.ljust(longest), Tone.FAINT)}{GAP}{look.paint(cell.text, cell.tone)}"
        for name, cell in known
    ]


def _shrink(look: Look, columns: Sequence[Column], widths: list[int]) -> None:
    if look.width is None:
        return
    elastic = [at for at, column in enumerate(columns) if column.shrinks]
    flowing = [size for size, column in zip(widths, columns, strict=True) if column.flows]
    while sum(widths) - sum(flowing) + len(GAP) * (len(widths) - 1) > look.width:
        widest = max(elastic, key=lambda at: widths[at], default=None)
        if widest is None or widths[widest] <= NARROWEST:
            return
        widths[widest] -= 1


def _line(look: Look, columns: Sequence[Column], widths: Sequence[int], row: Sequence[Cell]) -> str:
    texts = [column.aligned(cell.text, size) for column, size, cell in zip(columns, widths, row, strict=True)]
    # Nothing follows the last column, and trailing blanks help nobody.
    texts[-1] = texts[-1].rstrip()
    return GAP.join(look.paint(text, cell.tone) for text, cell in zip(texts, row, strict=True)).rstrip()
