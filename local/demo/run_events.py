"""`workflow_run` webhooks, derived from those of the jobs."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from local.demo.payloads.entities import Delivery, Job, Run
from local.demo.payloads.runs import run_delivery

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# The conclusion of a run is the first of these that any of its jobs has.
_STRONGEST = ("failure", "cancelled", "success", "skipped")


def run_events(deliveries: Iterable[Delivery]) -> Iterator[Delivery]:
    for run, jobs in _by_run(deliveries).items():
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


def _by_run(deliveries: Iterable[Delivery]) -> dict[Run, dict[Job, list[Delivery]]]:
    """All deliveries, sent or lost, by run and job."""
    found: dict[Run, dict[Job, list[Delivery]]] = defaultdict(lambda: defaultdict(list))
    for each in deliveries:
        if each.event == "workflow_job" and isinstance(each.subject, Job):
            found[each.subject.run][each.subject].append(each)
    return found
