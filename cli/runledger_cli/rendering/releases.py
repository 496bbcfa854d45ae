"""Renders release lines: published versions with their dependents and builds."""

from __future__ import annotations

from collections import Counter
from typing import Any

from runledger_cli.rendering.formatting import NOTHING, printable
from runledger_cli.rendering.style import Style, Tone
from runledger_cli.rendering.tables import Cell, Column, pairs, table

RELEASES = (
    Column(title="PACKAGE", shrinks=True),
    Column(title="VERSION", shrinks=True),
    Column(title="STATUS"),
    Column(title="FINISHED", right=True),
    Column(title="FAILED", right=True, optional=2),
    Column(title="PREVIOUS", shrinks=True, optional=3),
    Column(title="PUBLISHED", optional=1),
)
DEPENDENTS = (
    Column(title="DEPENDENT", shrinks=True),
    Column(title="STATUS"),
    Column(title="VERSION", shrinks=True),
    Column(title="RANGE", shrinks=True, optional=2),
    Column(title="RUN", optional=1),
    Column(title="AFTER", shrinks=True, optional=3),
    Column(title="MESSAGE", flows=True),
)
BUILDS = (
    Column(title="ENVIRONMENT", shrinks=True),
    Column(title="STATUS"),
    Column(title="VARIANTS", right=True),
    Column(title="PROGRESS", right=True),
    Column(title="FAILED", right=True),
    Column(title="CHANGED", optional=1),
)
TONES = {
    **dict.fromkeys(("planned", "waiting", "unknown"), Tone.PENDING),
    **dict.fromkeys(("rebuilding", "building", "dispatching", "dispatched"), Tone.BUSY),
    **dict.fromkeys(("completed", "succeeded", "published"), Tone.GOOD),
    **dict.fromkeys(("failed", "refused", "blocked"), Tone.BAD),
    "skipped": Tone.FAINT,
}


def release_details(style: Style, line: dict[str, Any]) -> list[str]:
    facts: list[tuple[str, Cell | object]] = [
        ("status", status_cell(line["status"])),
        ("message", line.get("message")),
        ("finished", _finished(line)),
        ("failed", line["failed_dependents"] or None),
        ("rebuilds", line.get("mode")),
        ("previous", line.get("previous_version")),
        ("published", style.time(line["published_at"])),
        ("completed", style.time(line["completed_at"]) if line.get("completed_at") else None),
    ]
    title = style.paint(printable(f"{line['name']} {line['version']}"), Tone.STRONG)
    parts = [[title, *pairs(style, facts)]]
    if line["dependents"]:
        parts.append(_dependents(style, line["dependents"]))
    if line["builds"]:
        parts.append(_builds(style, line["builds"]))
    return [row for n, part in enumerate(parts) for row in (["", *part] if n else part)]


def releases_table(style: Style, items: list[dict[str, Any]]) -> list[str]:
    rows = [
        (
            each["name"],
            each["version"],
            status_cell(each["status"]),
            f"{each['finished_dependents']} of {each['total_dependents']}" if each["total_dependents"] else NOTHING,
            each["failed_dependents"],
            each.get("previous_version"),
            style.time(each["published_at"]),
        )
        for each in items
    ]
    return table(style, RELEASES, rows)


def status_cell(status: str) -> Cell:
    return Cell(status, TONES.get(status, Tone.PLAIN))


def _finished(line: dict[str, Any]) -> str | None:
    """Such as `2 of 3 dependents (1 dispatched, 1 skipped, 1 succeeded)`: a dependent may finish without a rebuild."""
    if not line["total_dependents"]:
        return None
    by_status = sorted(Counter(each["status"] for each in line["dependents"]).items())
    counts = ", ".join(f"{count} {status}" for status, count in by_status)
    return f"{line['finished_dependents']} of {line['total_dependents']} dependents ({counts})"


def _dependents(style: Style, items: list[dict[str, Any]]) -> list[str]:
    rows = [
        (
            each["name"],
            status_cell(each["status"]),
            each.get("dependent_version"),
            each.get("range"),
            each.get("run_id"),
            ", ".join(each["depends_on"]) or NOTHING,
            each.get("message") or "",
        )
        for each in items
    ]
    return table(style, DEPENDENTS, rows)


def _builds(style: Style, items: list[dict[str, Any]]) -> list[str]:
    rows = [
        (
            each["environment"],
            status_cell(each["status"]),
            _variants(each),
            NOTHING if each.get("progress") is None else f"{each['progress'] * 100:.0f} %",
            each["failed_variants"],
            style.time(each["updated_at"]),
        )
        for each in items
    ]
    return table(style, BUILDS, rows)


def _variants(build: dict[str, Any]) -> str:
    """Such as `12 of 30`, or `12` while the number of variants isn't known."""
    total = build.get("total_variants")
    return f"{build['completed_variants']} of {total}" if total else str(build["completed_variants"])
