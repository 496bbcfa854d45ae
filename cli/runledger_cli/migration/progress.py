"""A progress bar on a terminal, and a line for each tenth elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runledger_cli.screen import Screen

BAR_WIDTH = 30
TENTHS = 10


@dataclass
class Progress:
    screen: Screen
    total: int
    clock: Callable[[], float] = time.monotonic
    done: int = 0
    _started_at: float = field(default=0.0, init=False)
    _tenths: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self._started_at = self.clock()

    def add(self, objects: int) -> None:
        self.done += objects
        share = self.done / self.total if self.total else 1.0
        tenths = int(share * TENTHS)
        if self.screen.notes_are_shown_live:
            self.screen.progress(self._line(min(share, 1.0)))
        elif tenths > self._tenths:
            self.screen.note(self._figures(min(share, 1.0)))
        self._tenths = max(self._tenths, tenths)

    def _line(self, share: float) -> str:
        filled = int(share * BAR_WIDTH)
        return f"[{'#' * filled}{'-' * (BAR_WIDTH - filled)}] {self._figures(share)}"

    def _figures(self, share: float) -> str:
        elapsed = max(self.clock() - self._started_at, 0.001)
        return f"{share:4.0%}  {self.done:,} of {self.total:,} objects, {self.done / elapsed:,.0f} per second"
