"""Renders jobs and stuck jobs. Durations of unfinished jobs count up to now."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from runledger_cli.rendering import formatting
from runledger_cli.rendering.style import Style, Tone, tone_of
from runledger_cli.rendering.tables import Cell, Column, Row, table

JOBS = (
    Column(title="JOB", right=True),
    Column(title="STATUS"),
    Column(title="REPOSITORY", shrinks=True),
    Column(title="NAME", shrinks=True),
    Column(title="CREATED", optional=3),
    Column(title="QUEUED", right=True, optional=1),
    Column(title="RAN", right=True, optional=2),
    Column(title="COST", right=True, optional=4),
    Column(title="RUNNER", shrinks=True, optional=5),
)
STUCK = (
    Column(title="JOB", right=True),
    Column(title="STUCK IN"),
    Column(title="FOR", right=True),
    Column(title="REPOSITORY", shrinks=True),
    Column(title="NAME", shrinks=True),
    Column(title="ADVICE", flows=True),
)
COMPLETED = "completed"


def jobs_table(style: Style, jobs: Sequence[dict[str, Any]]) -> list[str]:
    return table(style, JOBS, [_row(style, job) for job in jobs])


def stuck_table(style: Style, items: Sequence[dict[str, Any]]) -> list[str]:
    rows = [
        (
            each["job"]["job_id"],
            Cell(each["kind"], Tone.ALARM),
            formatting.duration(each["seconds"]),
            each["job"].get("repo_full_name"),
            name(each["job"]),
            each.get("advice"),
        )
        for each in items
    ]
    return table(style, STUCK, rows)


def status(job: dict[str, Any]) -> Cell:
    """The conclusion of a finished job, or else its status."""
    text = (job.get("conclusion") if job.get("status") == COMPLETED else None) or job.get("status")
    if job.get("carried_over"):
        return Cell(f"{text} (carried over)", tone_of(text))
    if job.get("was_interrupted"):
        return Cell(f"{text} (interrupted)", Tone.ALARM)
    return Cell(text, tone_of(text))


def name(job: dict[str, Any]) -> str | None:
    return " / ".join(each for each in (job.get("workflow_name"), job.get("job_name")) if each) or None


def runner(job: dict[str, Any]) -> str | None:
    """A carried-over job names the runner of the original."""
    return None if job.get("carried_over") else job.get("instance_id") or job.get("runner_name")


def queued_seconds(style: Style, job: dict[str, Any]) -> float | None:
    """Time until the job started, or until now, without the time of its approval.

    None for a job that is waiting for an approval, whose approval has no reported time, that never started, or that was
    carried over.
    """
    if job.get("carried_over"):
        return None
    if "overall_queue_duration_in_ms" in job:
        return float(job["overall_queue_duration_in_ms"]) / 1000
    requested, approved = job.get("approval_requested_at"), job.get("approved_at")
    if job.get("status") == COMPLETED or (requested and not approved):
        return None
    queued = between(job["created_at"], job["started_at"]) if job.get("started_at") else None
    queued = style.seconds_since(job["created_at"]) if queued is None else queued
    return max(0.0, queued - (between(requested or job["created_at"], approved) if approved else 0))


def ran_seconds(style: Style, job: dict[str, Any]) -> float | None:
    if not job.get("started_at") or job.get("carried_over"):
        return None
    if job.get("completed_at"):
        return max(0.0, between(job["started_at"], job["completed_at"]))
    return None if job.get("status") == COMPLETED else style.seconds_since(job["started_at"])


def _row(style: Style, job: dict[str, Any]) -> Row:
    return (
        job["job_id"],
        status(job),
        job.get("repo_full_name"),
        name(job),
        style.time(job.get("created_at")),
        formatting.duration(queued_seconds(style, job)),
        formatting.duration(ran_seconds(style, job)),
        formatting.dollars(job.get("usage_in_dollars")),
        runner(job),
    )


def between(earlier: str, later: str) -> float:
    return (datetime.fromisoformat(later) - datetime.fromisoformat(earlier)).total_seconds()
