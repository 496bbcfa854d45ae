"""The parts of the result that `migrate` and `verify` share: the counts, and the objects that can't be read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runledger_cli.screen import Screen

LISTED_AT_MOST = 100


def show_counts(screen: Screen, counts: Mapping[str, int]) -> None:
    width = max(map(len, counts))
    screen.show(f"{name.ljust(width)}  {number:,}" for name, number in counts.items())


def note_unreadable(screen: Screen, unreadable: Sequence[tuple[str, str]]) -> None:
    for key, reason in unreadable[:LISTED_AT_MOST]:
        screen.note(f"runledger: {key}: {reason}")
    if len(unreadable) > LISTED_AT_MOST:
        screen.note(f"runledger: and {len(unreadable) - LISTED_AT_MOST} more: use --json to list them")


def unreadable_as_json(unreadable: Sequence[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"key": key, "reason": reason} for key, reason in unreadable]
