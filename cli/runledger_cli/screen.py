"""Writes results to stdout, as text or JSON, and notes to stderr.

All output passes through `printable`, which replaces control characters: text from the server must not control the
terminal. A test ensures that no other module prints.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TextIO

from runledger_cli.rendering.formatting import printable
from runledger_cli.rendering.style import COLOUR_CODES

if TYPE_CHECKING:
    from runledger_cli.rendering.style import Style


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    out: TextIO
    notes: TextIO
    style: Style
    as_json: bool = False

    def show(self, lines: Iterable[str]) -> None:
        for line in lines:
            _print(line, self.out)
        self.out.flush()

    def document(self, response: Any, *, on_one_line: bool = False) -> None:
        """ASCII only: json.dumps escapes every other character, and all control characters but DEL."""
        text = json.dumps(response, indent=None if on_one_line else 2).replace("\x7f", "\\u007f")
        self.show(text.split("\n"))

    def note(self, text: str) -> None:
        """Without colours, so it may contain any text."""
        self.notes.write(f"{printable(text)}\n")
        self.notes.flush()

    @property
    def notes_are_shown_live(self) -> bool:
        """On a terminal, where a line can be replaced."""
        return self.notes.isatty()

    def progress(self, line: str) -> None:
        """Replaces the last line of progress."""
        self.notes.write(f"\r{printable(line)}\x1b[K")
        self.notes.flush()


def _print(line: str, stream: TextIO) -> None:
    safe = line if line.isprintable() else printable(line, keep=COLOUR_CODES).translate(COLOUR_CODES)
    stream.write(f"{safe}\n")
