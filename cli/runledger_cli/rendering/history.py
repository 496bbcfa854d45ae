"""Lines of a job's history: what came in, and what it changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from runledger_cli.rendering.look import Look, Tone, tone_of
from runledger_cli.rendering.timeline import MARKS_OF_EVENTS
from runledger_cli.rendering.words import NOTHING, printable

Event = dict[str, Any]


def history(look: Look, events: Sequence[Event]) -> list[str]:
    """Each event with all of its changes, one to a line."""
    lines = []
    for event in events:
        lines.append(f"  {look.paint(look.time(event['timestamp'], exact=True), Tone.FAINT)}  {_title(look, event)}")
        lines += [f"      {_change(look, name, change)}" for name, change in _changes(event)]
    return lines


def event_line(look: Look, event: Event) -> str:
    """One event as one line, for whoever watches many jobs at once."""
    time = look.paint(look.time(event["timestamp"], exact=True), Tone.FAINT)
    changes = ", ".join(_change(look, name, change) for name, change in _changes(event))
    line = f"{time}  {printable(event['job_id'])}  {_title(look, event)}"
    return f"{line}  {changes}" if changes else line


def _title(look: Look, event: Event) -> str:
    kind = printable(event["event_type"])
    if event.get("duplicate"):
        return look.paint(f"{kind} (duplicate)", Tone.FAINT)
    return look.paint(kind, Tone.ALARM if kind in MARKS_OF_EVENTS else tone_of(event.get("status")))


def _changes(event: Event) -> list[tuple[str, dict[str, Any]]]:
    return sorted((event.get("changes") or {}).items())


def _change(look: Look, name: str, change: dict[str, Any]) -> str:
    before, after = (_value(look, name, change.get(side)) for side in ("from", "to"))
    return f"{printable(name)}: {after if change.get('from') is None else f'{before} → {after}'}"


def _value(look: Look, name: str, value: object) -> str:
    if value is None:
        return NOTHING
    return look.time(str(value), exact=True) if name.endswith("_at") else printable(value)
