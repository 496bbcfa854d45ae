"""Converts domain objects and table items to response bodies."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from runledger.model.inputs import Status
from runledger.model.job import Job, is_carried_over
from runledger.queries import urls
from runledger.queries.usage import Usage, machine_end


def untyped(value: object) -> Any:
    """The value as `Any`: pydantic, not mypy, checks it against the return annotation of the route."""
    return value


def job_body(job: Mapping[str, Any]) -> Any:
    """The table has `was_interrupted` only if it is true, because storing it for every job would cost writes."""
    derived: dict[str, Any] = {}
    if url := urls.run_page(job.get("job_html_url"), job.get("run_id")):
        derived["github_run_url"] = url
    if is_carried_over(job["created_at"], job.get("completed_at")):
        derived["carried_over"] = True
    return {"was_interrupted": False, **job, **derived, **_ended_use(job)}


def _ended_use(job: Mapping[str, Any]) -> dict[str, Any]:
    """Machine time and cost of a running job whose machine has ended. GitHub reports the job's end minutes later."""
    end = machine_end(job) if job.get("status") == Status.IN_PROGRESS else None
    used = Usage.so_far(job, end) if end is not None else None
    if used is None:
        return {}
    known = {"usage_in_seconds": int(used.seconds), "usage_in_dollars": used.dollars}
    return {name: value for name, value in known.items() if value is not None}


def job_item(job: Job) -> dict[str, Any]:
    """The job as its table item: attributes without a value are omitted."""
    values = {each.name: getattr(job, each.name) for each in fields(job)}
    return {name: value for name, value in values.items() if value is not None}
