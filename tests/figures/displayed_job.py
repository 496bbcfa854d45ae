"""What the page shows about one job and its run, from its facts in plain Python: no code of the product is used."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from tests.browser.page_text import NOTHING, dollars, duration
from tests.figures import displayed, expected
from tests.figures.month import ENVIRONMENT, NOW, SECOND, Fact

PHASES = {
    "received": "Until received",
    "approval requested": "Before the approval request",
    "approved": "Awaiting approval",
    "scheduled": "Waiting for a runner",
    "started": "Waiting to start",
    "completed": "Running",
}
OPEN = {"waiting": "Awaiting approval", "queued": "Queued", "scheduled": "Runner starting", "in_progress": "Running"}
# Not figures.
WORDS = ("Labels", "Properties", "Commit")


def phases(fact: Fact) -> list[list[str]]:
    """The lines of each: its name, its duration, and its ends."""
    known = {
        "created": fact.created,
        "received": fact.received,
        "approval requested": fact.requested,
        "approved": fact.approved,
        "scheduled": fact.scheduled,
        "started": fact.started,
        "completed": fact.completed,
    }
    moments = [(name, at) for name, at in known.items() if at]
    shown = []
    for (before, start), (after, end) in pairwise(moments):
        name = "Never started" if after == "completed" and not fact.started else PHASES[after]
        if end > start:
            shown.append(_phase(name, (end - start).total_seconds(), before, start, after))
    if not fact.completed:
        last, start = moments[-1]
        name = f"{OPEN[expected.status(fact)]} so far"
        shown.append(_phase(name, (NOW - start).total_seconds(), last, start, "now"))
    return shown


def _phase(name: str, seconds: float, before: str, start: datetime, after: str) -> list[str]:
    ends = f"{before.capitalize()} {displayed.moment(start)} → {after}"
    return [name, duration(seconds), ends, *([ENVIRONMENT] if name.startswith("Awaiting approval") else [])]


def details(fact: Fact) -> dict[str, str]:
    machine, price = fact.machine, expected.price(fact)
    saved = expected.savings([fact]) if fact.completed else None
    awaited = ((fact.approved or NOW) - fact.requested).total_seconds() if fact.requested else None
    shown: dict[str, Any] = {
        "Created": displayed.moment(fact.created),
        "Last change": displayed.ago(last_change(fact)),
        "Environment": ENVIRONMENT if fact.requested else None,
        "Approval requested": displayed.moment(fact.requested) if fact.requested else None,
        "Approved": displayed.moment(fact.approved) if fact.approved else None,
        "Awaiting approval": duration(awaited),
        "Queued for": duration(expected.queued_until_now(fact)),
        "Ran for": duration(displayed.ran(fact)),
        "Cost": " ".join(displayed.cost(fact)),
        "Saved by spot": None if saved is None else dollars(round(saved, 6)),
        "Price per hour": None if price is None else dollars(price),
        "Pool": machine and machine.pool,
        "Runner": fact.runner_id if machine and fact.started else "a-runner-of-no-launcher" if fact.started else None,
        "Instance": fact.runner_id if machine else None,
        "Instance type": f"{machine.instance_type} · {machine.lifecycle}" if machine else None,
        "Interrupted": "yes" if fact.machine_died else "no",
        "Attempt": "1",
        "Deployment": str(fact.run_id) if fact.requested else None,
        "Job id": str(fact.job_id),
    }
    return {name: value for name, value in shown.items() if value not in (None, NOTHING)}


def copy_details(fact: Fact, job_id: int, created: datetime) -> dict[str, str]:
    names = ("Environment", "Runner", "Interrupted", "Deployment")
    kept = {name: value for name, value in details(fact).items() if name in names}
    return kept | {
        "Created": displayed.moment(created),
        "Last change": displayed.ago(created + SECOND),
        "Cost": "$0",
        "Attempt": "2",
        "Job id": str(job_id),
    }


def last_change(fact: Fact) -> datetime:
    """The last report. That of an approval is received a second after it, as most others, and `queued` another one."""
    reports = [
        fact.received,
        fact.requested and fact.requested + 2 * SECOND,
        fact.approved and fact.approved + 2 * SECOND,
        fact.scheduled,
        fact.started and fact.started + SECOND,
        fact.completed and fact.completed + SECOND,
        fact.machine_died,
    ]
    return max(each for each in reports if each)


def timeline(fact: Fact) -> list[list[str]]:
    """The lines of each event: the time since the one before, its title and its time, and when it was received."""
    events = sorted(_events(fact), key=lambda each: each[0])
    shown = [["Created on GitHub", displayed.moment(fact.created)]]
    before = fact.created
    for at, title, reporter, later in events:
        gap = [duration((at - before).total_seconds()), "later"] if at > before else []
        origin = f"{reporter} · received {duration(later.total_seconds())} later" if later else reporter
        shown.append([*gap, title, displayed.moment(at), origin])
        before = at
    return shown


def copy_timeline(fact: Fact, created: datetime) -> list[list[str]]:
    done = displayed.moment(created + SECOND)
    return [
        ["Created on GitHub", displayed.moment(created)],
        ["1 s", "later", f"Completed: {fact.conclusion}", done, "GitHub"],
    ]


def _events(fact: Fact) -> Iterator[tuple[datetime, str, str, timedelta]]:
    """For each event: its time, its label, its source, and how much later it was received."""
    yield fact.created, "Queued", "GitHub", fact.received - fact.created
    if fact.requested:
        yield fact.requested, "Awaiting approval", "GitHub", SECOND
        yield fact.requested, "Approval requested", "GitHub", 2 * SECOND
    if fact.approved:
        yield fact.approved, "Approved", "GitHub", SECOND
        yield fact.approved, "Queued", "GitHub", 2 * SECOND
    if fact.scheduled:
        yield fact.scheduled, "Runner scheduled", "Launcher", timedelta()
    if fact.started:
        yield fact.started, "Started", "GitHub", SECOND
    if fact.machine_died:
        yield fact.machine_died, "Runner terminated", "AWS", timedelta()
    if fact.completed:
        yield fact.completed, f"Completed: {fact.conclusion}", "GitHub", SECOND


def run_tiles(fact: Fact) -> dict[str, list[str]]:
    amount, *note = displayed.cost(fact)
    return {
        "Jobs completed": [f"{int(fact.completed is not None)} of 1"],
        "Failed": [str(int(fact.conclusion in expected.FAILED))],
        "Total duration": [duration(((fact.completed or NOW) - fact.created).total_seconds())],
        "Cost": [amount, *note],
    }


def copied_run_tiles(copied: int) -> dict[str, list[str]]:
    return {
        "Jobs completed": ["0 of 0", f"{copied:,} more carried over"],
        "Failed": ["0"],
        "Total duration": [NOTHING],
        "Cost": [NOTHING],
    }


def bar(fact: Fact) -> list[str]:
    """What the chart of a run has beside its job's bar, and as its tooltip. A skipped job has no bar."""
    if fact.conclusion == "skipped":
        return ["skipped"]
    took = ((fact.completed or NOW) - (fact.started or fact.created)).total_seconds()
    return [f"{fact.name}: {described(fact)}", duration(took)]


def described(fact: Fact) -> str:
    awaited = ((fact.approved or NOW) - fact.requested).total_seconds() if fact.requested else None
    awaits = "has awaited" if expected.status(fact) == "waiting" else "awaited"
    queued, ran = expected.queued_until_now(fact), displayed.ran(fact)
    parts = [
        *([f"{awaits} an approval for {duration(awaited)}"] if awaited is not None else []),
        *([f"queued for {duration(queued)}"] if queued is not None else []),
        *([f"ran for {duration(ran)}"] if ran is not None else []),
    ]
    return ", ".join(parts) or "not started"
