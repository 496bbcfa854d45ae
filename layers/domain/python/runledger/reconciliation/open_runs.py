"""Which runs and jobs are compared with GitHub, and in which order.

One call returns all jobs of a run, so the number of calls depends on runs, not on jobs.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from itertools import zip_longest
from typing import Any, TypeVar

from runledger.model.dataclass import dataclass
from runledger.model.job import Job
from runledger.model.keys import RunKey
from runledger.reconciliation.passes import Pass
from runledger.tables.absences import Absence

T = TypeVar("T")


@dataclass(slots=True, kw_only=True)
class OpenRun:
    """`suspects` are its jobs that may be stuck. `conclusion` is set if a refresh has shown that the run completed."""

    installation_id: int
    run_id: int
    run_attempt: int
    repo_full_name: str
    checked_at: str = ""
    conclusion: str | None = None
    suspects: dict[int, Job] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"run {self.run_id} of {self.repo_full_name}"

    @property
    def key(self) -> RunKey:
        return RunKey(self.installation_id, self.run_id, self.run_attempt)


def key_of(job: Job) -> RunKey | None:
    """None without a run. The attempt is optional in launcher events, and then it is the first."""
    return None if job.run_id is None else RunKey(job.installation_id, job.run_id, job.run_attempt or 1)


def keys_of(jobs: Iterable[Job]) -> set[RunKey]:
    return {key for job in jobs if (key := key_of(job))}


def key_of_item(item: Mapping[str, Any]) -> RunKey:
    return RunKey(item["installation_id"], item["run_id"], item.get("run_attempt", 1))


def gather(suspects: Iterable[Job], known: Iterable[Mapping[str, Any]]) -> list[OpenRun]:
    """The run that was checked longest ago comes first, so a pass continues where the last one ran out of time."""
    found: dict[RunKey, OpenRun] = {}
    for item in known:
        if item.get("repo_full_name"):
            key = key_of_item(item)
            found[key] = OpenRun(
                **key._asdict(),
                repo_full_name=item["repo_full_name"],
                checked_at=item.get("checked_at", ""),
                conclusion=item.get("conclusion"),
            )
    for job in suspects:
        run = key_of(job)
        if run is None:
            continue
        if run not in found and job.repo_full_name is not None:
            found[run] = OpenRun(**run._asdict(), repo_full_name=job.repo_full_name)
        if run in found:  # a job without a repository uses its run's
            found[run].suspects[job.job_id] = job
    return sorted(found.values(), key=lambda run: run.checked_at)


def closed_jobs(absences: Iterable[Absence]) -> list[Absence]:
    """Closed jobs that were missing on GitHub. The one that was compared longest ago comes first."""
    closed = [each for each in absences if each.closed_at and each.job_id is not None]
    return sorted(closed, key=lambda each: (each.compared_at or "", each.first_at))


def in_another_order(jobs: Iterable[Job], current: Pass) -> list[Job]:
    """The order differs in each pass, because nothing stores when a job was checked."""
    return sorted(jobs, key=lambda job: current.shuffle_key(job.job_id))


def in_turn(*queues: Sequence[T]) -> list[T]:
    """The first of each queue, then the second of each, and so on, so that a long queue doesn't starve the others."""
    return [each for row in zip_longest(*queues) for each in row if each is not None]
