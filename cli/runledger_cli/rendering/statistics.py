"""Renders statistics, and tables of the slowest and most expensive jobs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runledger_cli.rendering.formatting import NOTHING, dollars, duration, percent, printable
from runledger_cli.rendering.jobs import name
from runledger_cli.rendering.style import Style, Tone
from runledger_cli.rendering.tables import Cell, Column, pairs, table

QUANTILES = ("p50", "p90", "p99", "max")
SERIES = (
    Column(title="FROM"),
    Column(title="CREATED", right=True, optional=1),
    Column(title="COMPLETED", right=True),
    Column(title="SUCCEEDED", right=True, optional=2),
    Column(title="FAILED", right=True),
    Column(title="QUEUED P50", right=True, optional=4),
    Column(title="QUEUED P90", right=True),
    Column(title="RAN P50", right=True, optional=3),
    Column(title="RAN P90", right=True),
    Column(title="SPEND", right=True),
)


def statistics(style: Style, stats: dict[str, Any], *, of: str) -> list[str]:
    span = f"{style.time(stats['since'])} to {style.time(stats['until'])}"
    lines = [f"{style.paint(printable(of), Tone.STRONG)}  {span}", *pairs(style, _facts(stats))]
    if stats.get("truncated"):
        lines.append(style.paint("  incomplete: the range has too many jobs; choose a shorter one", Tone.ALARM))
    if stats.get("slowest"):
        lines += ["", *_slowest(style, stats["slowest"])]
    if stats.get("costliest"):
        lines += ["", *_costliest(style, stats["costliest"])]
    return lines


def series(style: Style, buckets: list[dict[str, Any]]) -> list[str]:
    rows = [
        (
            style.time(each["start"]),
            *(each.get(count) for count in ("jobs", "completed", "succeeded", "failed")),
            *(duration(each.get(part)) for part in ("queue_p50", "queue_p90", "duration_p50", "duration_p90")),
            dollars(each.get("usage_in_dollars")),
        )
        for each in buckets
    ]
    return table(style, SERIES, rows)


POOL_COLUMNS = (
    Column(title="POOL", shrinks=True),
    Column(title="INSTANCES", shrinks=True, optional=3),
    *(Column(title=title, right=True) for title in ("JOBS", "ACTIVE", "BUSY")),
    Column(title="UTILISATION", right=True, optional=1),
    Column(title="SPOT", right=True, optional=2),
    Column(title="SPEND"),
)


def pools(style: Style, found: list[dict[str, Any]]) -> list[str]:
    rows = [
        (
            each["pool_name"],
            each.get("instance_type"),
            *(f"{each[name]:,}" for name in ("jobs", "runners_active", "busy")),
            *(percent(each.get(name)) for name in ("utilisation", "spot_share")),
            spend(each, "seconds_used"),
        )
        for each in found
    ]
    return table(style, POOL_COLUMNS, rows)


def _facts(stats: dict[str, Any]) -> list[tuple[str, Cell | object]]:
    spot = stats.get("spot") or {}
    saved = spot.get("savings_in_dollars")
    interruptions = stats.get("interruptions")
    return [
        ("jobs created", f"{stats['jobs']:,}"),
        ("by status", _counts(stats.get("by_status"))),
        ("by conclusion", _counts(stats.get("by_conclusion"))),
        ("success rate", _success(stats)),
        ("queued", _quantiles(stats.get("queue_seconds"))),
        ("ran", _quantiles(stats.get("duration_seconds"))),
        ("spend", spend(stats)),
        ("spot", None if spot.get("share") is None else f"{percent(spot['share'])} of the jobs whose machine is known"),
        ("saved by spot", None if saved is None else dollars(saved)),
        ("interruptions", Cell(interruptions, Tone.ALARM if interruptions else Tone.PLAIN)),
    ]


def spend(stats: Mapping[str, Any], used: str = "usage_in_seconds") -> str:
    text = f"{dollars(stats.get('usage_in_dollars'))} for {duration(stats.get(used))}"
    unpriced = stats.get("unpriced_seconds")
    return f"{text}, {duration(unpriced)} unpriced" if unpriced else text


def _success(stats: Mapping[str, Any]) -> str:
    succeeded, failed = stats.get("succeeded", 0), stats.get("failed", 0)
    if stats.get("success_rate") is None:
        return NOTHING
    return f"{percent(stats['success_rate'])} ({succeeded:,} of {succeeded + failed:,} jobs that succeeded or failed)"


def _counts(counts: Mapping[str, int] | None) -> str | None:
    return ", ".join(f"{count:,} {what}" for what, count in (counts or {}).items() if count) or None


def _quantiles(measured: Mapping[str, float] | None) -> str | None:
    if not measured or not measured.get("count"):
        return None
    shown = [f"{each} {duration(measured[each])}" for each in QUANTILES if measured.get(each) is not None]
    return "  ".join([*shown, f"({measured['count']:,} that ran)"])


def _slowest(style: Style, jobs: list[dict[str, Any]]) -> list[str]:
    columns = (Column(title="SLOWEST", shrinks=True), Column(title="P90", right=True), Column(title="JOBS", right=True))
    return table(style, columns, [(_name(each), duration(each["p90_seconds"]), each["jobs"]) for each in jobs])


def _costliest(style: Style, jobs: list[dict[str, Any]]) -> list[str]:
    columns = (
        Column(title="MOST EXPENSIVE", shrinks=True),
        Column(title="SPEND", right=True),
        Column(title="JOBS", right=True),
    )
    return table(style, columns, [(_name(each), dollars(each["usage_in_dollars"]), each["jobs"]) for each in jobs])


def _name(job: dict[str, Any]) -> str:
    return " ".join(each for each in (job.get("repo_full_name"), name(job)) if each) or NOTHING
