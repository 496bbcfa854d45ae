"""What the page shows about a month, from its facts in plain Python: no code of the product is used."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from tests.browser.page_text import NOTHING, dollars, duration, percent
from tests.figures import expected
from tests.figures.month import NOW, Fact, text

STATUSES = ("queued", "waiting", "scheduled", "in_progress", "completed")
PROBLEMS = {"queued": "Queued too long", "scheduled": "Runner didn't start", "in_progress": "Running too long"}


def named(word: str) -> str:
    return word.replace("_", " ").capitalize()


def ago(at: datetime) -> str:
    """The time since then, in the largest unit."""
    passed = (NOW - at).total_seconds()
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "m")):
        if passed >= size:
            return f"{int(passed // size)} {unit} ago"
    return f"{int(passed)} s ago" if passed >= 5 else "just now"


def moment(at: datetime) -> str:
    """Seconds today, else the day."""
    return f"{at:%H:%M:%S}" if at.date() == NOW.date() else f"{at.day} {at:%b}, {at:%H:%M}"


def statistics(facts: Sequence[Fact], since: datetime, step: timedelta) -> dict[str, Any]:
    """Figures of the range that ends now, by the names of the API."""
    want = expected.statistics(facts, since, NOW, step)
    start = first_step(since, step)
    done = Counter((fact.repo, fact.name) for fact in expected.completed_in(facts, since, NOW) if fact.started)
    slowest = Counter(expected.p90s_by_name(facts, since, NOW)).most_common()
    costliest = expected.costs_by_name(facts, since, NOW).most_common()
    return want | {
        "queue_seconds": _percentiles(want["queues"]),
        "duration_seconds": _percentiles(want["durations"]),
        "series": [{"start": text(start + step * at)} | point for at, point in enumerate(want["series"])],
        "slowest": [_ranked(name, done) | {"p90_seconds": p90} for name, p90 in slowest],
        "costliest": [_ranked(name, done) | {"usage_in_dollars": cost} for name, cost in costliest if cost],
    }


def first_step(since: datetime, step: timedelta) -> datetime:
    """The hour or day in which the range begins."""
    hour = since.replace(minute=0, second=0, microsecond=0)
    return hour.replace(hour=0) if step == expected.DAY else hour


def _percentiles(values: Sequence[float]) -> dict[str, Any]:
    return {"count": len(values)} | {
        name: expected.percentile(values, share) for name, share in (("p50", 0.5), ("p90", 0.9))
    }


def _ranked(name: tuple[str, str], done: Counter[tuple[str, str]]) -> dict[str, Any]:
    return {"repo_full_name": name[0], "job_name": name[1], "workflow_name": "CI", "jobs": done[name]}


def counters(facts: Sequence[Fact]) -> dict[str, int]:
    """Jobs in each status now, and those that completed within 24 hours."""
    now = Counter(expected.status(fact) for fact in facts if not fact.completed)
    return {status: now[status] for status in STATUSES} | {
        "completed": len(expected.completed_in(facts, NOW - expected.DAY, NOW))
    }


def attention(facts: Sequence[Fact]) -> list[tuple[str, str, str]]:
    """A problem, its job and its age. A job that waits for an approval is listed as a forgotten approval."""
    stuck = sorted((since, fact.job_id, fact) for fact in facts if (since := expected.stuck_since(fact)))
    rows = [
        (
            PROBLEMS[expected.status(fact)],
            f"{fact.name} · {fact.repo}",
            f"stuck for {duration(int((NOW - since).total_seconds()))}",
        )
        for since, _, fact in stuck
        if expected.status(fact) != "waiting"
    ]
    forgotten = [
        ("Forgotten approval", f"Approval for production · {fact.repo}", ago(since))
        for since, _, fact in stuck
        if expected.status(fact) == "waiting"
    ]
    return rows + forgotten


def unpriced(seconds: float) -> list[str]:
    return [f"{duration(seconds)} unpriced"] if seconds else []


def repository(name: str, facts: Sequence[Fact], found: dict[str, Any], since: datetime) -> dict[str, list[str]]:
    return {
        "Repository": [name],
        "Jobs": [f"{expected.repositories(facts, since)[name]:,}"],
        "Over time": [],
        "Success": [percent(found["success_rate"])],
        "Queue p90": [duration(found["queue_seconds"]["p90"])],
        "Duration p90": [duration(found["duration_seconds"]["p90"])],
        "Spend": [dollars(found["usage_in_dollars"]), *unpriced(found["unpriced_seconds"])],
    }


def pool(name: str, instance_type: str, want: dict[str, Any]) -> dict[str, list[str]]:
    """Its instance type is that of the jobs that ran in the range."""
    return {
        "Pool": [name, *([instance_type] if want["jobs"] or want["seconds_used"] else [])],
        "Jobs": [str(want["jobs"])],
        "Runners": [str(want["runners_active"]), f"{want['busy']} busy"],
        "Utilisation": [percent(want["utilisation"])],
        "Spot share": [percent(want["spot_share"])],
        "Machine time": [duration(want["seconds_used"])],
        "Spend": [dollars(want["usage_in_dollars"]), *unpriced(want["unpriced_seconds"])],
    }


def row(fact: Fact) -> dict[str, list[str]]:
    """A row in a list of jobs."""
    return {
        "Status": badges(fact),
        "Job": [fact.name, f"{fact.repo} · CI"],
        "Branch": ["main"],
        "Runner": runner(fact),
        "Queued for": [duration(expected.queued_until_now(fact))],
        "Ran for": [duration(ran(fact))],
        "Cost": cost(fact),
        "Created": [ago(fact.created)],
    }


def copy_row(fact: Fact, created: datetime) -> dict[str, list[str]]:
    """A job that a partial re-run carried over."""
    return row(fact) | {
        "Status": [named(str(fact.conclusion)), "carried over"],
        **{title: [NOTHING] for title in ("Runner", "Queued for", "Ran for")},
        "Cost": ["$0"],
        "Created": [ago(created)],
    }


def badges(fact: Fact) -> list[str]:
    return [named(fact.conclusion or expected.status(fact)), *(["interrupted"] if fact.machine_died else [])]


def runner(fact: Fact) -> list[str]:
    if fact.machine:
        return [fact.machine.pool, f"{fact.machine.instance_type} · {fact.machine.lifecycle}"]
    return ["a-runner-of-no-launcher" if fact.started else NOTHING]


def ran(fact: Fact) -> float | None:
    return ((fact.completed or NOW) - fact.started).total_seconds() if fact.started else None


def cost(fact: Fact) -> list[str]:
    """The cost; for an open job, the cost so far, which is unknown before it starts."""
    if not fact.started and not fact.completed:
        return [NOTHING]
    amount = expected.cost(fact, expected.price(fact))
    if amount is None:
        return [NOTHING, *unpriced(expected.machine_seconds(fact))]
    return [dollars(float(amount)), *([] if fact.completed else ["so far"])]


def by_creation(facts: Sequence[Fact]) -> list[tuple[datetime, int, dict[str, list[str]]]]:
    """Rows with their creation and job, newest first, with the copies of jobs."""
    rows = [(fact.created, fact.job_id, row(fact)) for fact in facts]
    for fact in facts:
        rows += [(at, job_id, copy_row(fact, at)) for job_id, at in copies(fact)]
    return sorted(rows, key=lambda each: each[:2], reverse=True)


def copies(fact: Fact) -> list[tuple[int, datetime]]:
    """Jobs of later attempts, with their creation."""
    assert fact.completed or not fact.copies
    return [
        (job_id, fact.completed + timedelta(minutes=10 + at)) for at, job_id in enumerate(fact.copies) if fact.completed
    ]
