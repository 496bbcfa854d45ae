"""Renders orphaned runners."""

from __future__ import annotations

from typing import Any

from runledger_cli.rendering.style import Style, tone_of
from runledger_cli.rendering.tables import Cell, Column, table

ORPHANS = (
    Column(title="RUNNER"),
    Column(title="KIND", optional=6),
    Column(title="STATUS", optional=7),
    Column(title="DETECTED", optional=2),
    Column(title="DUE"),
    Column(title="POOL", optional=5),
    Column(title="JOB"),
    Column(title="RUN", optional=4),
    Column(title="JOB STATUS", optional=1),
    Column(title="MACHINE", optional=3),
    Column(title="REASON", flows=True),
)


def orphans_table(style: Style, items: list[dict[str, Any]]) -> list[str]:
    rows = [
        (
            each["runner_id"],
            each.get("kind"),
            Cell(each.get("status"), tone_of(each.get("status"))),
            style.time(each.get("detected_at")),
            style.time(each.get("due_at")),
            each.get("pool_name"),
            each.get("job_id"),
            each.get("run_id"),
            each.get("job_conclusion") or each.get("job_status"),
            each.get("machine_state"),
            each.get("reason"),
        )
        for each in items
    ]
    return table(style, ORPHANS, rows)
