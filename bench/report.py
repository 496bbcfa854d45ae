"""Figures with their baselines from the same run."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

DIGITS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A count is the same in every run. A time varies, so compare its ratio."""

    key: str
    value: float
    unit: str
    how: str
    baseline: float | None = None
    kind: Literal["count", "time"] = "count"

    @property
    def ratio(self) -> float | None:
        return round(self.value / self.baseline, DIGITS) if self.baseline else None

    def as_json(self) -> dict[str, object]:
        fields = asdict(self) | {"ratio": self.ratio}
        del fields["key"]
        return {name: round(value, DIGITS) if isinstance(value, float) else value for name, value in fields.items()}


def write(entries: Iterable[Figure], file: Path) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps({entry.key: entry.as_json() for entry in entries}, indent=2) + "\n")


def lines(entries: Iterable[Figure]) -> Iterator[str]:
    entries = list(entries)
    width = max(len(entry.key) for entry in entries)
    yield f"{'':{width}}  {'value':>10} {'baseline':>10} {'ratio':>6}"
    for entry in entries:
        baseline = "" if entry.baseline is None else _short(entry.baseline)
        ratio = "" if entry.ratio is None else f"{entry.ratio:.2f}"
        yield f"{entry.key:{width}}  {_short(entry.value):>10} {baseline:>10} {ratio:>6}  {entry.unit}"


def _short(value: float) -> str:
    return f"{value:,.2f}".rstrip("0").rstrip(".")
