"""Compares the results of two runs of `make bench`, for example before and after a change."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TOLERANCE = 0.02
HIGHER_IS_BETTER = {"webhooks/s"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A count is compared directly, and a time by its ratio to the baseline of its own run."""

    key: str
    unit: str
    before: float
    after: float

    @property
    def change(self) -> float:
        """A fraction of the value before; infinite if that was 0."""
        return (self.after - self.before) / self.before if self.before else float("inf")

    @property
    def is_worse(self) -> bool:
        return (self.change < 0) if self.unit in HIGHER_IS_BETTER else (self.change > 0)


def differences(before: Path, after: Path) -> list[Difference]:
    """Figures that changed by more than `TOLERANCE`. A figure that only one of the runs has is omitted."""
    old, new = json.loads(before.read_text()), json.loads(after.read_text())
    pairs = [
        Difference(key=key, unit=figure["unit"], before=old[key][compared], after=figure[compared])
        for key, figure in new.items()
        if key in old and (compared := _compared(figure)) and old[key][compared] is not None
    ]
    return [pair for pair in pairs if pair.before != pair.after and abs(pair.change) > TOLERANCE]


def _compared(figure: dict[str, object]) -> str | None:
    """The times of two runs can't be compared without a baseline."""
    if figure["kind"] == "count":
        return "value"
    return "ratio" if figure["ratio"] is not None else None


def lines(found: list[Difference]) -> Iterator[str]:
    width = max((len(each.key) for each in found), default=0)
    yield f"{'':{width}}  {'before':>10} {'after':>10}  change"
    for each in sorted(found, key=lambda each: (not each.is_worse, each.key)):
        verdict = "worse" if each.is_worse else "better"
        yield f"{each.key:{width}}  {each.before:>10,g} {each.after:>10,g} {each.change:>+7.1%}  {verdict}"
