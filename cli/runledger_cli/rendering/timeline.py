"""Renders a job's timeline: its steps in order, the time between them, and incidents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from runledger_cli.rendering import formatting
from runledger_cli.rendering.jobs import COMPLETED, between
from runledger_cli.rendering.style import Style, Tone

STEPS = {
    "created_at": "created",
    "received_at": "received",
    "approval_requested_at": "approval requested",
    "approved_at": "approved",
    "scheduled_at": "scheduled",
    "started_at": "started",
    "completed_at": "completed",
}
MARKS = {"rejected_at": "rejected", "interrupted_at": "interrupted"}
STEPS_OF_EVENTS = {
    "runner_attached": "attached",
    "runner_terminated": "runner terminated",
}
MARKS_OF_EVENTS = {
    "runner_rebalance_recommended": "rebalance recommended",
    "runner_requested": "runner requested",
    "runner_rescheduled": "rescheduled",
    "runner_taken": "runner taken by another job",
    "job_reconciled": "reconciled",
    "rerun_requested": "re-run requested",
    "rerun_refused": "re-run refused by GitHub",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    at: str
    name: str
    mark: bool = False  # an incident


def moments(job: dict[str, Any], events: Sequence[dict[str, Any]]) -> list[Moment]:
    """Steps that the job stores are at their own times, and all others at the times of their events.

    A carried-over job has no steps after its creation: they belong to the original job.
    """
    steps = dict(list(STEPS.items())[:2]) if job.get("carried_over") else STEPS
    found = [Moment(at=job[name], name=text) for name, text in steps.items() if job.get(name)]
    found += [Moment(at=job[name], name=text, mark=True) for name, text in MARKS.items() if job.get(name)]
    found += _of_events(events)
    return sorted(found, key=lambda each: each.at)


def timeline(style: Style, job: dict[str, Any], events: Sequence[dict[str, Any]]) -> list[str]:
    known = moments(job, events)
    indent = " " * len(style.time(job["created_at"], exact=True))
    lines: list[str] = []
    for at, moment in enumerate(known):
        if at and (gap := between(known[at - 1].at, moment.at)):
            lines.append(f"  {indent}  {style.paint(f'│ {formatting.duration(gap)}', Tone.FAINT)}")
        lines.append(f"  {style.paint(style.time(moment.at, exact=True), Tone.FAINT)}  {_drawn(style, moment)}")
    if known and job.get("status") != COMPLETED:
        so_far = f"│ {formatting.duration(style.seconds_since(known[-1].at))} until now, {job.get('status')}"
        lines.append(f"  {indent}  {style.paint(so_far, Tone.PENDING)}")
    return lines


def _of_events(events: Sequence[dict[str, Any]]) -> Iterator[Moment]:
    for event in events:
        kind = event["event_type"]
        if event.get("duplicate"):
            continue
        if kind in MARKS_OF_EVENTS:
            yield Moment(at=event["timestamp"], name=MARKS_OF_EVENTS[kind], mark=True)
        elif kind in STEPS_OF_EVENTS:
            yield Moment(at=event["timestamp"], name=STEPS_OF_EVENTS[kind])


def _drawn(style: Style, moment: Moment) -> str:
    if moment.mark:
        return style.paint(f"! {moment.name}", Tone.ALARM)
    return f"● {style.paint(moment.name, Tone.STRONG)}"
