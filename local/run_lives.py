"""The lives of the demo's runs, which follow their jobs, as GitHub's do."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from local.payloads.runs import run_delivery
from local.payloads.subjects import Delivery, Job, Run

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# What one job says for all: the first of these that any job ended with.
_STRONGEST = ("failure", "cancelled", "success", "skipped")


def run_lives(told: Iterable[Delivery]) -> Iterator[Delivery]:
    for run, jobs in _by_run(told).items():
        yield run_delivery(run, "requested", run.started_at)
        steps = [step for job in jobs.values() for step in job]
        if started := [step.happened_at for step in steps if step.payload["action"] == "in_progress"]:
            yield run_delivery(run, "in_progress", min(started))
        ends = [step for step in steps if step.payload["action"] == "completed"]
        if {step.subject for step in ends} == jobs.keys():
            conclusions = {step.payload["workflow_job"]["conclusion"] for step in ends}
            conclusion = next(each for each in _STRONGEST if each in conclusions)
            completed = run_delivery(run, "completed", max(step.happened_at for step in ends), conclusion=conclusion)
            yield replace(completed, lost=any(step.lost for step in ends))


def _by_run(told: Iterable[Delivery]) -> dict[Run, dict[Job, list[Delivery]]]:
    """What was said of each job of each run, be it sent or lost."""
    found: dict[Run, dict[Job, list[Delivery]]] = defaultdict(lambda: defaultdict(list))
    for each in told:
        if each.event == "workflow_job" and isinstance(each.subject, Job):
            found[each.subject.run][each.subject].append(each)
    return found
