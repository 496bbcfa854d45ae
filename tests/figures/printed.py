"""What the CLI prints about a month, from its facts in plain Python: no code of the product is used."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from tests.figures import expected
from tests.figures.month import NOW, Fact

NOTHING = "-"


def duration(seconds: float | None) -> str:
    """Milliseconds below a second, tenths below ten, and two units from a minute on."""
    if seconds is None:
        return NOTHING
    if seconds < 1:
        return f"{round(seconds * 1000)} ms"
    if round(seconds) < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{round(seconds)} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{days}d {hours:02}h"
    return f"{hours}h {minutes:02}m" if hours else f"{minutes}m {rest:02}s"


def dollars(amount: Decimal | float | None) -> str:
    """Cents, and up to four digits below a dollar or six below a cent."""
    if amount is None:
        return NOTHING
    exact = Decimal(str(amount))
    size, sign = abs(exact), "-" if exact < 0 else ""
    digits = 2 if size == 0 or size >= 1 else 4 if size >= Decimal("0.01") else 6
    text = f"{size.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP):,}"
    while digits > 2 and text.endswith("0"):
        text, digits = text[:-1], digits - 1
    return f"{sign}${text}"


def percent(share: float | None) -> str:
    return NOTHING if share is None else f"{share * 100:.1f} %"


def instant(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S}Z"


def spend(found: dict[str, Any], used: str = "usage_in_seconds") -> str:
    text = f"{dollars(found['usage_in_dollars'])} for {duration(found[used])}"
    return f"{text}, {duration(found['unpriced_seconds'])} unpriced" if found["unpriced_seconds"] else text


def statistics(facts: Sequence[Fact], want: dict[str, Any]) -> dict[str, str]:
    open_jobs = Counter(expected.status(fact) for fact in facts if not fact.completed)
    completed = want["by_conclusion"].total()
    succeeded, failed = want["succeeded"], want["failed"]
    of_both = f" ({succeeded} of {succeeded + failed} jobs that succeeded or failed)"
    shown = {
        "jobs created": str(want["jobs"]),
        "by status": counts(open_jobs + Counter(completed=completed)),
        "by conclusion": counts(want["by_conclusion"]),
        "success rate": f"{percent(want['success_rate'])}{of_both}" if succeeded + failed else NOTHING,
        "queued": quantiles(want["queues"]),
        "ran": quantiles(want["durations"]),
        "spend": spend(want),
        "interruptions": str(want["interruptions"]),
    }
    if want["spot"]["share"] is not None:
        shown["spot"] = f"{percent(want['spot']['share'])} of the jobs whose machine is known"
    if want["spot"]["savings_in_dollars"] is not None:
        shown["saved by spot"] = dollars(round(want["spot"]["savings_in_dollars"], 6))
    return {name: value for name, value in shown.items() if value}


def counts(found: Counter[Any]) -> str:
    """Sorted, because their order means nothing."""
    return ", ".join(sorted(f"{number} {name}" for name, number in found.items() if number))


def quantiles(values: Sequence[float]) -> str:
    if not values:
        return ""
    shares = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "max": 1}
    shown = [f"{name} {duration(expected.percentile(values, share))}" for name, share in shares.items()]
    return "  ".join([*shown, f"({len(values)} that ran)"])


def point(start: datetime, want: dict[str, Any]) -> dict[str, str]:
    numbers = {"CREATED": "jobs", "COMPLETED": "completed", "SUCCEEDED": "succeeded", "FAILED": "failed"}
    times = {"QUEUED": "queue", "RAN": "duration"}
    return {
        "FROM": instant(start),
        **{title: str(want[name]) for title, name in numbers.items()},
        **{
            f"{title} {share.upper()}": duration(want[f"{name}_{share}"])
            for title, name in times.items()
            for share in ("p50", "p90")
        },
        "SPEND": dollars(None if want["usage_in_dollars"] is None else round(want["usage_in_dollars"], 9)),
    }


def pool(name: str, instances: str, want: dict[str, Any]) -> dict[str, str]:
    return {
        "POOL": name,
        "INSTANCES": instances,
        "JOBS": str(want["jobs"]),
        "ACTIVE": str(want["runners_active"]),
        "BUSY": str(want["busy"]),
        "UTILISATION": percent(want["utilisation"]),
        "SPOT": percent(want["spot_share"]),
        "SPEND": spend(want, "seconds_used"),
    }


def row(fact: Fact) -> dict[str, str]:
    return {
        "JOB": str(fact.job_id),
        "STATUS": _status(fact),
        "REPOSITORY": fact.repo,
        "NAME": f"CI / {fact.name}",
        "CREATED": instant(fact.created),
        "QUEUED": duration(expected.queued_until_now(fact)),
        "RAN": duration(((fact.completed or NOW) - fact.started).total_seconds() if fact.started else None),
        "COST": dollars(_known_cost(fact)),
        "RUNNER": _runner(fact) or NOTHING,
    }


def copy_row(fact: Fact, job_id: int, created: datetime) -> dict[str, str]:
    """A job that a partial re-run carried over."""
    return row(fact) | {
        "JOB": str(job_id),
        "STATUS": f"{fact.conclusion} (carried over)",
        "CREATED": instant(created),
        **dict.fromkeys(("QUEUED", "RAN", "RUNNER"), NOTHING),
        "COST": "$0.00",
    }


def _status(fact: Fact) -> str:
    text = fact.conclusion or expected.status(fact)
    return f"{text} (interrupted)" if fact.machine_died else text


def _runner(fact: Fact) -> str | None:
    if fact.machine:
        return fact.runner_id
    return "a-runner-of-no-launcher" if fact.started else None


def _known_cost(fact: Fact) -> Decimal | None:
    """The cost at the end of the job, or of its machine."""
    return expected.cost(fact, expected.price(fact)) if fact.completed or fact.machine_died else None


def cost(fact: Fact) -> str | None:
    """The cost of a job that has started."""
    if not fact.started:
        return None
    used = expected.machine_seconds(fact)
    amount = _known_cost(fact)
    rate = "price unknown" if expected.price(fact) is None else f"${expected.price(fact)} an hour"
    parts = [duration(used) if amount is None else f"{dollars(amount)} for {duration(used)}", rate]
    saved = expected.savings([fact]) if fact.completed else None
    return ", ".join([*parts, *([f"{dollars(round(saved, 6))} saved by spot"] if saved else [])])


def approval(fact: Fact) -> str | None:
    if not fact.requested:
        return None
    if not fact.approved:
        return f"requested {instant(fact.requested)}"
    return f"approved {instant(fact.approved)}, after {duration((fact.approved - fact.requested).total_seconds())}"


def timeline(fact: Fact) -> Iterator[str]:
    """Each step with its time, and the time between two."""
    steps = {
        "● created": fact.created,
        "● received": fact.received,
        "● approval requested": fact.requested,
        "● approved": fact.approved,
        "● scheduled": fact.scheduled,
        "● started": fact.started,
        "● completed": fact.completed,
        "● runner terminated": fact.machine_died,
    }
    known = sorted(((at, name) for name, at in steps.items() if at), key=lambda each: each[0])
    yield from _steps(known)
    if not fact.completed:
        yield f"│ {duration((NOW - known[-1][0]).total_seconds())} until now, {expected.status(fact)}"


def _steps(known: Iterable[tuple[datetime, str]]) -> Iterator[str]:
    before: datetime | None = None
    for at, name in known:
        if before and at != before:
            yield f"│ {duration((at - before).total_seconds())}"
        yield f"{at:%Y-%m-%d %H:%M:%S}.{at.microsecond // 1000:03}Z  {name}"
        before = at


def stuck(fact: Fact, since: datetime) -> dict[str, str]:
    return {
        "JOB": str(fact.job_id),
        "STUCK IN": expected.status(fact),
        "FOR": duration(int((NOW - since).total_seconds())),
        "REPOSITORY": fact.repo,
        "NAME": f"CI / {fact.name}",
    }
