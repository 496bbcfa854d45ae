"""Where answers go: lines for people, or one JSON document for programs; remarks go to stderr, out of the way."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TextIO

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
            print(line, file=self.out)
        self.out.flush()

    def document(self, answer: Any, *, on_one_line: bool = False) -> None:
        self.show([json.dumps(answer, indent=None if on_one_line else 2)])

    def remark(self, text: str) -> None:
        print(text, file=self.remarks, flush=True)
