"""Renders branch heads, environments and the DORA figures."""

from __future__ import annotations

from typing import Any

from runledger_cli.rendering.formatting import NOTHING, commit, duration, percent, printable
from runledger_cli.rendering.style import Style, Tone, tone_of
from runledger_cli.rendering.tables import Cell, Column, table

HEADS = (
    Column(title="REPOSITORY", shrinks=True),
    Column(title="BRANCH", shrinks=True),
    Column(title="WORKFLOW", shrinks=True),
    Column(title="STATE"),
    Column(title="SINCE"),
    Column(title="LAST RUN", optional=1),
    Column(title="COMMIT", optional=2),
    Column(title="ACTOR", shrinks=True, optional=3),
)
ENVIRONMENTS = (
    Column(title="REPOSITORY", shrinks=True),
    Column(title="ENVIRONMENT", shrinks=True),
    Column(title="DEPLOYED"),
    Column(title="SINCE"),
    Column(title="ROLLBACK TARGETS", shrinks=True, optional=1),
    Column(title="LATEST", optional=2),
    Column(title="BY", shrinks=True, optional=3),
)
DORA = (
    Column(title="REPOSITORY", shrinks=True),
    Column(title="ENVIRONMENT", shrinks=True),
    Column(title="DEPLOYMENTS", right=True),
    Column(title="PER DAY", right=True),
    Column(title="LEAD P50", right=True),
    Column(title="LEAD P90", right=True, optional=2),
    Column(title="FAILED", right=True, optional=3),
    Column(title="ROLLED BACK", right=True, optional=4),
    Column(title="FAILURE RATE", right=True),
    Column(title="RESTORE P50", right=True, optional=1),
)
STATE_TONES = {"green": Tone.GOOD, "red": Tone.BAD}
MS_PER_SECOND = 1000


def heads_table(style: Style, items: list[dict[str, Any]]) -> list[str]:
    rows = [
        (
            each["repo_full_name"],
            each["branch"],
            each.get("workflow_name") or each["workflow_id"],
            Cell(each["state"], STATE_TONES.get(each["state"], Tone.FAINT)),
            style.time(each.get("since")),
            _result(each.get("last_run")),
            commit((each.get("last_run") or {}).get("head_sha")),
            (each.get("last_run") or {}).get("actor"),
        )
        for each in items
    ]
    return table(style, HEADS, rows)


def environments_table(style: Style, items: list[dict[str, Any]]) -> list[str]:
    rows = [
        (
            each["repo_full_name"],
            each["environment"],
            _deployed(each),
            style.time(each.get("since")),
            ", ".join(filter(None, map(_named, each["rollback_targets"]))) or NOTHING,
            _state(each.get("latest")),
            (each.get("current") or {}).get("creator"),
        )
        for each in items
    ]
    return table(style, ENVIRONMENTS, rows)


def dora_table(style: Style, response: dict[str, Any]) -> list[str]:
    rows = [
        (
            each["repo_full_name"],
            each["environment"],
            f"{each['deployments']:,}",
            _rate(each["deployments_per_day"]),
            _ms(each["lead_time_in_ms"]["p50"]),
            _ms(each["lead_time_in_ms"]["p90"]),
            f"{each['failed_deployments']:,}",
            f"{each['rolled_back_deployments']:,}",
            percent(each["change_failure_rate"]),
            _ms(each["time_to_restore_in_ms"]["p50"]),
        )
        for each in response["items"]
    ]
    title = f"{style.time(response['since'])} to {style.time(response['until'])}"
    return [style.paint(title, Tone.STRONG), "", *table(style, DORA, rows)]


def _result(run: dict[str, Any] | None) -> Cell:
    if not run:
        return Cell(NOTHING)
    status = run.get("conclusion") or run["status"]
    return Cell(status, tone_of(status))


def _deployed(environment: dict[str, Any]) -> Cell:
    """Such as `1.4.0 (rollback)`."""
    notes = [
        *(["rollback"] if environment.get("is_rollback") else []),
        *(["inactive"] if environment.get("current") and not environment.get("is_active") else []),
    ]
    name = _named(environment.get("current")) or NOTHING
    text = f"{printable(name)} ({', '.join(notes)})" if notes else name
    return Cell(text, Tone.PENDING if notes else Tone.PLAIN)


def _named(deployment: dict[str, Any] | None) -> str | None:
    """By its version, or else by its commit."""
    if not deployment:
        return None
    return deployment.get("version") or commit(deployment.get("head_sha")) or str(deployment["deployment_id"])


def _state(deployment: dict[str, Any] | None) -> Cell:
    if not deployment:
        return Cell(NOTHING)
    return Cell(deployment["state"], tone_of(deployment["state"]))


def _rate(per_day: float) -> str:
    """With two decimals below 1: few teams deploy every day, and 0.0 would mean never."""
    return f"{per_day:.2f}" if 0 < per_day < 1 else f"{per_day:.1f}"


def _ms(value: float | None) -> str:
    return duration(None if value is None else value / MS_PER_SECOND)
