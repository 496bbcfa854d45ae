"""Where output goes: lines for people or a JSON document for programs to stdout, remarks to stderr.

Every character that the command prints passes through `_printable` below, so no text of a server can reach the terminal
with its control characters intact, whichever command prints it. A test keeps other modules from printing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TextIO

from runledger_cli.rendering.look import COLOUR_CODES
from runledger_cli.rendering.words import printable

if TYPE_CHECKING:
    from runledger_cli.rendering.look import Look


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    out: TextIO
    remarks: TextIO
    look: Look
    as_json: bool = False

    def show(self, lines: Iterable[str]) -> None:
        for line in lines:
            _print(line, self.out)
        self.out.flush()

    def document(self, answer: Any, *, on_one_line: bool = False) -> None:
        """ASCII only: json.dumps escapes every other character, and all control characters but DEL."""
        text = json.dumps(answer, indent=None if on_one_line else 2).replace("\x7f", "\\u007f")
        self.show(text.split("\n"))

    def remark(self, text: str) -> None:
        _print(text, self.remarks)
        self.remarks.flush()


def _print(line: str, stream: TextIO) -> None:
    safe = line if line.isprintable() else printable(line, keep=COLOUR_CODES).translate(COLOUR_CODES)
    stream.write(f"{safe}\n")
