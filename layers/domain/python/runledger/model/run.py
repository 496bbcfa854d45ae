"""The status of a run that GitHub has not reported, derived from its jobs. Pure."""

from collections.abc import Iterable, Mapping
from typing import Any

from runledger.model.inputs import Status
from runledger.model.reports import RunStatus

STARTED = {Status.IN_PROGRESS, Status.COMPLETED}
REPORTED_ONLY = {"updated_at", "run_html_url", "conclusion"}


def is_unreported(run: Mapping[str, Any]) -> bool:
    """Whether only jobs have reported the run."""
    return not run.keys() & REPORTED_ONLY


def with_derived_status(run: Mapping[str, Any], job_statuses: Iterable[str]) -> dict[str, Any]:
    """Derives the status of a run without its own report from its jobs.

    Done on reading: storing the status would cost a write for each step of a job.
    """
    if not is_unreported(run):
        return dict(run)
    total, completed = run.get("total_jobs", 0), run.get("completed_jobs", 0)
    if completed and completed == total:
        return {**run, "status": RunStatus.COMPLETED}
    started = completed or any(status in STARTED for status in job_statuses)
    return {**run, "status": RunStatus.IN_PROGRESS if started else run["status"]}
