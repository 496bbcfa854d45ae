"""The figures of a month, computed from its facts in plain Python: no code of the product is used.

docs/definitions.md defines each of them.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import Any

from tests.figures.month import NOW, Fact

FAILED = ("failure", "timed_out", "startup_failure")
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def used_until(fact: Fact) -> datetime:
    ends = [end for end in (fact.completed, fact.machine_died) if end]
    return min(ends, default=NOW)


def machine_seconds(fact: Fact) -> int:
    return int((used_until(fact) - fact.started).total_seconds()) if fact.started else 0


def cost(fact: Fact, price: float | None) -> Decimal | None:
    """The cost of the whole job: EC2's minimum is a minute, and the ledger keeps millionths of a dollar."""
    if not fact.started:
        return Decimal(0)
    if price is None:
        return None
    exact = Decimal(str(price)) * max(60, machine_seconds(fact)) / 3600
    return exact.quantize(Decimal("0.000001"), ROUND_HALF_UP)


def price(fact: Fact) -> float | None:
    return fact.machine.price if fact.machine else None


def queue_seconds(fact: Fact) -> float | None:
    if not fact.started:
        return None
    waited = (fact.approved - fact.requested).total_seconds() if fact.requested and fact.approved else 0
    return (fact.started - fact.created).total_seconds() - waited


def queued_until_now(fact: Fact) -> float | None:
    """A job that hasn't started is queued until now, unless it awaits an approval."""
    if fact.started or fact.completed:
        return queue_seconds(fact)
    if fact.requested and not fact.approved:
        return None
    awaited = (fact.approved - fact.requested).total_seconds() if fact.requested and fact.approved else 0
    return (NOW - fact.created).total_seconds() - awaited


def duration_seconds(fact: Fact) -> float:
    assert fact.completed
    assert fact.started
    return (fact.completed - fact.started).total_seconds()


def share_within(fact: Fact, since: datetime, until: datetime) -> Fraction:
    """The share of the job's time on its machine that falls into the range."""
    assert fact.started
    start, end = fact.started, used_until(fact)
    if start == end:
        return Fraction(int(since <= start < until))
    inside = min(end, until) - max(start, since)
    return max(Fraction(0), Fraction(inside // timedelta(milliseconds=1), (end - start) // timedelta(milliseconds=1)))


def spend(facts: Iterable[Fact], since: datetime, until: datetime) -> dict[str, float | None]:
    dollars, seconds, unpriced, priced, any_unpriced = Fraction(0), Fraction(0), Fraction(0), False, False
    for fact in facts:
        share = share_within(fact, since, until) if fact.started else Fraction(0)
        if not share:
            continue
        whole = cost(fact, price(fact))
        seconds += machine_seconds(fact) * share
        if whole is None:
            unpriced += machine_seconds(fact) * share
            any_unpriced = True
        else:
            dollars += Fraction(whole) * share
            priced = True
    known = float(dollars) if priced or not any_unpriced else None
    return {"usage_in_dollars": known, "unpriced_seconds": round(unpriced), "usage_in_seconds": round(seconds)}


def completed_in(facts: Iterable[Fact], since: datetime, until: datetime) -> list[Fact]:
    return [fact for fact in facts if fact.completed and since <= fact.completed < until]


def percentile(values: Sequence[float], share: float) -> float | None:
    return sorted(values)[math.ceil(share * len(values)) - 1] if values else None


def spot_share(facts: Iterable[Fact]) -> float | None:
    lifecycles = Counter(fact.machine.lifecycle for fact in facts if fact.started and fact.machine)
    return lifecycles["spot"] / lifecycles.total() if lifecycles else None


def savings(facts: Iterable[Fact]) -> float | None:
    saved = [
        cost(fact, fact.machine.on_demand) - cost(fact, fact.machine.price)  # type: ignore[operator]
        for fact in facts
        if fact.started and fact.machine and fact.machine.lifecycle == "spot" and fact.machine.price is not None
    ]
    return float(sum(saved)) if saved else None


def statistics(facts: Sequence[Fact], since: datetime, until: datetime, step: timedelta) -> dict[str, Any]:
    done = completed_in(facts, since, until)
    succeeded = sum(fact.conclusion == "success" for fact in done)
    failed = sum(fact.conclusion in FAILED for fact in done)
    ran = [fact for fact in done if fact.started]
    return {
        "jobs": sum(since <= fact.created < until for fact in facts),
        "by_conclusion": Counter(fact.conclusion for fact in done),
        "succeeded": succeeded,
        "failed": failed,
        "success_rate": succeeded / (succeeded + failed) if succeeded + failed else None,
        "interruptions": sum(fact.machine_died is not None for fact in done),
        **spend(facts, since, until),
        "spot": {"share": spot_share(ran), "savings_in_dollars": savings(ran)},
        "queues": [queue_seconds(fact) for fact in ran],
        "durations": [duration_seconds(fact) for fact in ran],
        "series": list(_series(facts, since, until, step)),
    }


def _series(facts: Sequence[Fact], since: datetime, until: datetime, step: timedelta) -> Iterable[dict[str, Any]]:
    at = since.replace(minute=0, second=0, microsecond=0) if step == HOUR else since.replace(hour=0, minute=0, second=0)
    while at < until:
        begin, end = max(at, since), min(at + step, until)
        done = completed_in(facts, begin, end)
        yield {
            "jobs": sum(begin <= fact.created < end for fact in facts),
            "completed": len(done),
            **_point_percentiles("queue", [queue_seconds(fact) for fact in done if fact.started]),
            **_point_percentiles("duration", [duration_seconds(fact) for fact in done if fact.started]),
            "succeeded": sum(fact.conclusion == "success" for fact in done),
            "failed": sum(fact.conclusion in FAILED for fact in done),
            **{name: value for name, value in spend(facts, begin, end).items() if name != "usage_in_seconds"},
        }
        at += step


def runners(facts: Iterable[Fact]) -> dict[str, Any]:
    """No machine was reported as ended, except those that died."""
    alive = [fact for fact in facts if not fact.machine_died]
    busy = sum(bool(fact.started and not fact.completed) for fact in alive)
    return {"busy": busy, "runners_active": len(alive), "utilisation": busy / len(alive) if alive else None}


def pools(facts: Sequence[Fact], since: datetime, until: datetime) -> dict[str, dict[str, Any]]:
    by_pool: dict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        if fact.machine:
            by_pool[fact.machine.pool].append(fact)
    found = {}
    for name, members in by_pool.items():
        done = completed_in(members, since, until)
        used = spend(members, since, until)
        found[name] = {
            "jobs": len(done),
            "seconds_used": used.pop("usage_in_seconds"),
            **used,
            "spot_share": spot_share(done),
            **runners(members),
        }
    return found


def _point_percentiles(name: str, values: Sequence[Any]) -> dict[str, float | None]:
    return {f"{name}_p50": percentile(values, 0.5), f"{name}_p90": percentile(values, 0.9)}


def status(fact: Fact) -> str:
    if fact.completed:
        return "completed"
    if fact.started:
        return "in_progress"
    if fact.scheduled:
        return "scheduled"
    return "waiting" if fact.requested and not fact.approved else "queued"


def stuck_since(fact: Fact) -> datetime | None:
    """The settings of the tests are 10 minutes, 6 hours for a running job and 24 for an approval."""
    longest = {"queued": timedelta(minutes=10), "scheduled": timedelta(minutes=10), "in_progress": timedelta(hours=6)}
    since = {
        # The last webhook `queued` is the first one, or the one two seconds after an approval.
        "queued": fact.approved + timedelta(seconds=2) if fact.approved else fact.received,
        "scheduled": fact.scheduled,
        "in_progress": fact.machine_died or fact.started,
        "waiting": fact.requested,
    }.get(status(fact))
    patience = timedelta(minutes=10) if fact.machine_died else longest.get(status(fact), timedelta(hours=24))
    return since if since and since <= NOW - patience else None


def repositories(facts: Iterable[Fact], since: datetime) -> dict[str, int]:
    return dict(Counter(fact.repo for fact in facts if fact.created >= since))


def p90s_by_name(facts: Iterable[Fact], since: datetime, until: datetime) -> dict[tuple[str, str], float]:
    durations: dict[tuple[str, str], list[float]] = defaultdict(list)
    for fact in completed_in(facts, since, until):
        if fact.started:
            durations[fact.repo, fact.name].append(duration_seconds(fact))
    return {name: found for name, values in durations.items() if (found := percentile(values, 0.9)) is not None}


def costs_by_name(facts: Iterable[Fact], since: datetime, until: datetime) -> Counter[tuple[str, str]]:
    return _by_name(facts, lambda fact: spend([fact], since, until)["usage_in_dollars"] or 0)


def _by_name(facts: Iterable[Fact], value: Callable[[Fact], float]) -> Counter[tuple[str, str]]:
    found: Counter[tuple[str, str]] = Counter()
    for fact in facts:
        if fact.completed and fact.started:
            found[fact.repo, fact.name] += value(fact)  # type: ignore[assignment]
    return found
