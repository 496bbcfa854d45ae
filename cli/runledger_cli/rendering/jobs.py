"""Jobs as rows of a table, and what each of a job's measures is while it is not over yet."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from runledger_cli.rendering import words
from runledger_cli.rendering.look import Look, Tone, tone_of
from runledger_cli.rendering.tables import Cell, Column, Row, table

COLUMNS = (
    Column(title="JOB", right=True),
    Column(title="STATUS"),
    Column(title="REPOSITORY", shrinks=True),
    Column(title="NAME", shrinks=True),
    Column(title="CREATED"),
    Column(title="QUEUED", right=True),
    Column(title="RAN", right=True),
    Column(title="COST", right=True),
    Column(title="RUNNER", shrinks=True),
)
COMPLETED = "completed"


def jobs_table(look: Look, jobs: Sequence[dict[str, Any]]) -> list[str]:
    return table(look, COLUMNS, [_row(look, job) for job in jobs])


def status(job: dict[str, Any]) -> Cell:
    """A finished job is known by how it ended."""
    said = (job.get("conclusion") if job.get("status") == COMPLETED else None) or job.get("status")
    if job.get("was_interrupted"):
        return Cell(f"{said} (interrupted)", Tone.ALARM)
    return Cell(said, tone_of(said))


def name(job: dict[str, Any]) -> str | None:
    return " / ".join(each for each in (job.get("workflow_name"), job.get("job_name")) if each) or None


def runner(job: dict[str, Any]) -> str | None:
    return job.get("instance_id") or job.get("runner_name")


def queued_seconds(look: Look, job: dict[str, Any]) -> float | None:
    """Until it started; a job that never did has no such time, and one that has not yet is still counting."""
    if "overall_queue_duration_in_ms" in job:
        return float(job["overall_queue_duration_in_ms"]) / 1000
    if job.get("started_at"):
        return _between(job["created_at"], job["started_at"])
    return None if job.get("status") == COMPLETED else look.seconds_since(job["created_at"])


def ran_seconds(look: Look, job: dict[str, Any]) -> float | None:
    if not job.get("started_at"):
        return None
    if "usage_in_seconds" in job:
        return float(job["usage_in_seconds"])
    return None if job.get("status") == COMPLETED else look.seconds_since(job["started_at"])


def _row(look: Look, job: dict[str, Any]) -> Row:
    return (
        job["job_id"],
        status(job),
        job.get("repo_full_name"),
        name(job),
        look.time(job.get("created_at")),
        words.duration(queued_seconds(look, job)),
        words.duration(ran_seconds(look, job)),
        words.dollars(job.get("usage_in_dollars")),
        runner(job),
    )


def _between(earlier: str, later: str) -> float:
    return (datetime.fromisoformat(later) - datetime.fromisoformat(earlier)).total_seconds()
