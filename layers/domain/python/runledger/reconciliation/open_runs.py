"""The runs to ask GitHub about. One call returns all jobs of a run, so calls grow with runs and not with jobs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from runledger.model.job import Job


@dataclass(slots=True, kw_only=True)
class OpenRun:
    """`suspects` are its jobs that may be stuck."""

    installation_id: int
    run_id: int
    run_attempt: int
    repo_full_name: str
    checked_at: str = ""
    suspects: dict[int, Job] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"run {self.run_id} of {self.repo_full_name}"

    @property
    def key(self) -> tuple[int, int, int]:
        return (self.installation_id, self.run_id, self.run_attempt)


def keys_of(jobs: Iterable[Job]) -> set[tuple[int, int, int]]:
    return {(job.installation_id, job.run_id, job.run_attempt or 1) for job in jobs if job.run_id is not None}


def gather(suspects: Iterable[Job], known: Iterable[Mapping[str, Any]]) -> list[OpenRun]:
    """The run that was checked longest ago comes first, so the next pass continues where one ran out of time."""
    found: dict[tuple[int, int, int], OpenRun] = {}
    for item in known:
        if item.get("repo_full_name"):
            run = OpenRun(
                installation_id=item["installation_id"],
                run_id=item["run_id"],
                run_attempt=item.get("run_attempt", 1),  # optional in scheduling events
                repo_full_name=item["repo_full_name"],
                checked_at=item.get("checked_at", ""),
            )
            found[run.key] = run
    for job in suspects:
        if job.run_id is None:
            continue
        key = (job.installation_id, job.run_id, job.run_attempt or 1)
        if key not in found and job.repo_full_name is not None:
            found[key] = OpenRun(
                installation_id=job.installation_id,
                run_id=job.run_id,
                run_attempt=job.run_attempt or 1,
                repo_full_name=job.repo_full_name,
            )
        if key in found:  # a job without a repository uses its run's
            found[key].suspects[job.job_id] = job
    return sorted(found.values(), key=lambda run: run.checked_at)
