"""The four DORA figures of an environment: how often, how fast and how safely a team deploys to it. Pure.

docs/definitions.md defines each figure. A figure without samples is None, never 0.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import pairwise
from typing import Any

from runledger.model import times
from runledger.model.dataclass import dataclass

MS_PER_DAY = times.SECONDS_PER_DAY * times.MS_PER_SECOND
SHARES = {"p50": 0.5, "p90": 0.9}


class Bucket(StrEnum):
    DAY = "day"
    WEEK = "week"


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployed:
    """A deployment to one environment. Each time is when the state was last reported, None if it never was.

    `committed_at` is the time of its commit, if it is known.
    """

    deployment_id: int
    head_sha: str | None = None
    succeeded_at: str | None = None
    failed_at: str | None = None
    committed_at: str | None = None

    @property
    def has_failed(self) -> bool:
        """Whether its last result is a failure. A deployment that failed and then succeeded hasn't failed."""
        return self.failed_at is not None and (self.succeeded_at is None or self.failed_at >= self.succeeded_at)

    @property
    def ended_at(self) -> str | None:
        return self.failed_at if self.has_failed else self.succeeded_at


def measure(deployments: Iterable[Deployed], *, since: str, until: str, bucket: Bucket) -> dict[str, Any]:
    """The figures of one environment, for deployments that ended in the range.

    Pass all known deployments: those before the range show which commits were deployed before, and those after it show
    which deployments were rolled back.
    """
    known = list(deployments)
    successes = sorted((each for each in known if each.succeeded_at), key=_by_success)
    ended = [each for each in known if each.ended_at and since <= each.ended_at < until]
    succeeded = [each for each in ended if not each.has_failed]
    failed = [each for each in ended if each.has_failed]
    replaced = _rolled_back(successes)
    rolled_back = [each for each in succeeded if each.deployment_id in replaced]
    lead_times = _lead_times(successes, {each.deployment_id for each in succeeded})
    restored = [ms for at, ms in _outages(known, successes, replaced) if since <= at < until]
    return {
        "deployments": len(succeeded),
        "deployments_per_day": len(succeeded) / (times.ms_between(since, until) / MS_PER_DAY),
        "lead_time_in_ms": _percentiles([ms for _, ms in lead_times]),
        "failed_deployments": len(failed),
        "rolled_back_deployments": len(rolled_back),
        "change_failure_rate": (len(failed) + len(rolled_back)) / len(ended) if ended else None,
        "time_to_restore_in_ms": _percentiles(restored),
        "over_time": _over_time(since, until, bucket, succeeded=succeeded, failed=failed, lead_times=lead_times),
    }


def _by_success(deployed: Deployed) -> tuple[str, int]:
    return deployed.succeeded_at or "", deployed.deployment_id


def _rolled_back(successes: Sequence[Deployed]) -> set[int]:
    """The deployments directly followed by a rollback: a success of a commit that was already deployed before them."""
    found, earlier = set(), set[str]()
    for before, after in pairwise(successes):
        if before.head_sha and after.head_sha and after.head_sha != before.head_sha and after.head_sha in earlier:
            found.add(before.deployment_id)
        if before.head_sha:
            earlier.add(before.head_sha)
    return found


def _lead_times(successes: Sequence[Deployed], counted: set[int]) -> list[tuple[str, int]]:
    """The time of each success and the time since its commit. Only the first success of a commit has a lead time."""
    found, seen = [], set[str]()
    for each in successes:
        if not each.head_sha or not each.succeeded_at or each.head_sha in seen:
            continue
        seen.add(each.head_sha)
        # The clock of a developer's machine may be ahead.
        if each.deployment_id in counted and each.committed_at and each.committed_at <= each.succeeded_at:
            found.append((each.succeeded_at, times.ms_between(each.committed_at, each.succeeded_at)))
    return found


def _outages(known: Iterable[Deployed], successes: Iterable[Deployed], replaced: set[int]) -> Iterator[tuple[str, int]]:
    """The end and the duration of each outage. Consecutive failures are one outage, which begins with the first."""
    changes = [(each.failed_at, each.deployment_id, False) for each in known if each.has_failed and each.failed_at]
    changes += [(each.succeeded_at, each.deployment_id, True) for each in successes if each.succeeded_at]
    begun_at = None
    for at, deployment_id, is_success in sorted(changes):
        if is_success and begun_at is not None:
            yield at, times.ms_between(begun_at, at)
            begun_at = None
        if begun_at is None and (not is_success or deployment_id in replaced):
            begun_at = at


def _percentiles(samples: Sequence[int]) -> dict[str, int | None]:
    """The nearest-rank method: the smallest sample that at least this share of the samples doesn't exceed."""
    ordered, count = sorted(samples), len(samples)
    found = {name: ordered[math.ceil(share * count) - 1] if count else None for name, share in SHARES.items()}
    return {**found, "count": count}


def _over_time(
    since: str,
    until: str,
    bucket: Bucket,
    *,
    succeeded: Iterable[Deployed],
    failed: Iterable[Deployed],
    lead_times: Iterable[tuple[str, int]],
) -> list[dict[str, Any]]:
    successes = Counter(start_of(each.ended_at, bucket) for each in succeeded if each.ended_at)
    failures = Counter(start_of(each.ended_at, bucket) for each in failed if each.ended_at)
    samples = defaultdict[str, list[int]](list)
    for at, ms in lead_times:
        samples[start_of(at, bucket)].append(ms)
    return [
        {
            "start": start,
            "deployments": successes[start],
            "failed_deployments": failures[start],
            "lead_time_p50_in_ms": _percentiles(samples[start])["p50"],
        }
        for start in _starts(since, until, bucket)
    ]


def start_of(instant: str, bucket: Bucket) -> str:
    """The start of the day, or of the week, in UTC. Weeks begin on Monday."""
    day = datetime.fromisoformat(instant[: len("2025-01-15")])
    first = day - timedelta(days=day.weekday()) if bucket is Bucket.WEEK else day
    return times.normalised(first.isoformat())


def _starts(since: str, until: str, bucket: Bucket) -> Iterator[str]:
    at, days = start_of(since, bucket), 7 if bucket is Bucket.WEEK else 1
    while at < until:
        yield at
        at = times.later(at, seconds=days * times.SECONDS_PER_DAY)
