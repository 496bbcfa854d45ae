"""The workflow of each job.

Job webhooks don't contain `workflow_id`, but run webhooks do. So the id is stored on the run, and added to jobs when
they are read. This works whichever is recorded first, and needs no additional write.
"""

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any

from runledger.model.dataclass import dataclass
from runledger.model.keys import RunKey
from runledger.tables.runs import RunsTable

KEY = ("installation_id", "run_id", "run_attempt")
WORKFLOW = "workflow_id"
MOST_KNOWN = 20_000

Item = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Workflows:
    runs: RunsTable
    known: dict[RunKey, int] = field(default_factory=dict)
    """The workflow of a run never changes, so a warm function reads it once."""

    def joined(self, jobs: Iterable[Item]) -> list[Item]:
        """Jobs whose run has no report stay without the id. Costs half a read unit for each new run."""
        found = list(jobs)
        self._read({key for job in found if WORKFLOW not in job and (key := _key(job))} - self.known.keys())
        return [of_run(job, self._run_of(job)) for job in found]

    def _run_of(self, job: Item) -> Item:
        key = _key(job)
        return {WORKFLOW: self.known[key]} if key in self.known else {}

    def _read(self, unknown: set[RunKey]) -> None:
        if len(self.known) > MOST_KNOWN:
            self.known.clear()
        for run in self.runs.among(sorted(unknown)):
            if (key := _key(run)) and WORKFLOW in run:
                self.known[key] = run[WORKFLOW]


def of_run(job: Item, run: Item) -> Item:
    """The job with the workflow of its run."""
    return {WORKFLOW: run[WORKFLOW], **job} if WORKFLOW in run else job


def _key(item: Item) -> RunKey | None:
    """None for a job whose run isn't known, and for an item that only holds a claim."""
    installation_id, run_id, run_attempt = (item.get(name) for name in KEY)
    if installation_id is None or run_id is None or run_attempt is None:
        return None
    return RunKey(installation_id, run_id, run_attempt)
