"""Renders a job's history: events and their changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from runledger_cli.rendering.formatting import NOTHING, printable
from runledger_cli.rendering.style import Style, Tone, tone_of
from runledger_cli.rendering.timeline import MARKS_OF_EVENTS

Event = dict[str, Any]
INCIDENTS = {*MARKS_OF_EVENTS, "runner_interrupted", "deployment_rejected"}


def history(style: Style, events: Sequence[Event]) -> list[str]:
    """Each event, followed by one line per change."""
    lines = []
    for event in events:
        lines.append(f"  {style.paint(style.time(event['timestamp'], exact=True), Tone.FAINT)}  {_title(style, event)}")
        lines += [f"      {_change(style, name, change)}" for name, change in _changes(event)]
    return lines


def event_line(style: Style, event: Event) -> str:
    """An event and its changes on one line, for `tail`."""
    time = style.paint(style.time(event["timestamp"], exact=True), Tone.FAINT)
    changes = ", ".join(_change(style, name, change) for name, change in _changes(event))
    line = f"{time}  {printable(event['job_id'])}  {_title(style, event)}"
    return f"{line}  {changes}" if changes else line


def _title(style: Style, event: Event) -> str:
    kind = printable(event["event_type"])
    if event.get("duplicate"):
        return style.paint(f"{kind} (duplicate)", Tone.FAINT)
    return style.paint(kind, Tone.ALARM if kind in INCIDENTS else tone_of(event.get("status")))


def _changes(event: Event) -> list[tuple[str, dict[str, Any]]]:
    return sorted((event.get("changes") or {}).items())


def _change(style: Style, name: str, change: dict[str, Any]) -> str:
    before, after = (_value(style, name, change.get(side)) for side in ("from", "to"))
    return f"{printable(name)}: {after if change.get('from') is None else f'{before} → {after}'}"


def _value(style: Style, name: str, value: object) -> str:
    if value is None:
        return NOTHING
    return style.time(str(value), exact=True) if name.endswith("_at") else printable(value)
