"""The DORA figures: each definition by example, and all of them against an independent computation."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from runledger.releases.dora import Bucket, Deployed, measure

SINCE, UNTIL = "2025-01-06T00:00:00.000Z", "2025-01-20T00:00:00.000Z"  # two weeks, from a Monday on
HOUR = 3_600_000


def at(hours: float) -> str:
    """So many hours after the start of the range."""
    moment = datetime.fromisoformat(SINCE) + timedelta(hours=hours)
    return moment.isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


def success(deployment_id: int, sha: str | None, hours: float, **changes: Any) -> Deployed:
    return Deployed(deployment_id=deployment_id, head_sha=sha, succeeded_at=at(hours), **changes)


def failure(deployment_id: int, sha: str, hours: float, **changes: Any) -> Deployed:
    return Deployed(deployment_id=deployment_id, head_sha=sha, failed_at=at(hours), **changes)


def figures(*deployments: Deployed, bucket: Bucket = Bucket.DAY) -> dict[str, Any]:
    return measure(deployments, since=SINCE, until=UNTIL, bucket=bucket)


def test_nothing_is_known_of_an_environment_without_deployments() -> None:
    found = figures()
    assert (found["deployments"], found["deployments_per_day"]) == (0, 0)
    assert found["change_failure_rate"] is None
    assert found["lead_time_in_ms"] == found["time_to_restore_in_ms"] == {"p50": None, "p90": None, "count": 0}
    assert [each["start"] for each in found["over_time"]] == [at(24 * day) for day in range(14)]


def test_the_frequency_counts_successes_in_the_range() -> None:
    before, after = success(1, "a", -1), success(5, "d", 24 * 14)
    found = figures(before, success(2, "b", 0), failure(3, "c", 1), success(4, "c", 24 * 14 - 0.1), after)
    assert (found["deployments"], found["deployments_per_day"]) == (2, 2 / 14)


def test_a_pending_deployment_counts_nowhere() -> None:
    assert figures(Deployed(deployment_id=1, head_sha="a", committed_at=at(0))) == figures()


def test_the_lead_time_is_that_of_the_first_success_of_a_commit() -> None:
    again = success(3, "a", 30, committed_at=at(1))
    found = figures(again, success(1, "a", 3, committed_at=at(1)), success(2, "b", 9, committed_at=at(1)))
    assert found["lead_time_in_ms"] == {"p50": 2 * HOUR, "p90": 8 * HOUR, "count": 2}
    assert found["over_time"][0]["lead_time_p50_in_ms"] == 2 * HOUR
    assert found["over_time"][1]["lead_time_p50_in_ms"] is None


def test_a_commit_that_was_deployed_before_the_range_has_no_lead_time_in_it() -> None:
    found = figures(success(1, "a", -30, committed_at=at(-31)), success(2, "a", 3, committed_at=at(-31)))
    assert (found["deployments"], found["lead_time_in_ms"]["count"]) == (1, 0)


@pytest.mark.parametrize("committed_at", [None, at(5)])
def test_an_unknown_or_later_commit_time_gives_no_lead_time(committed_at: str | None) -> None:
    assert figures(success(1, "a", 3, committed_at=committed_at))["lead_time_in_ms"]["count"] == 0


def test_the_failure_rate_is_that_of_failures_and_rollbacks() -> None:
    rolled_back = (success(1, "a", 1), success(2, "b", 2), success(3, "a", 3))
    found = figures(*rolled_back, failure(4, "c", 4))
    assert (found["deployments"], found["failed_deployments"], found["rolled_back_deployments"]) == (3, 1, 1)
    assert found["change_failure_rate"] == 2 / 4


def test_a_rollback_after_the_range_counts_for_the_deployment_in_it() -> None:
    found = figures(success(1, "a", 1), success(2, "b", 2), success(3, "a", 24 * 15))
    assert (found["deployments"], found["rolled_back_deployments"]) == (2, 1)
    assert found["time_to_restore_in_ms"]["count"] == 0


def test_the_same_commit_again_is_no_rollback() -> None:
    assert figures(success(1, "a", 1), success(2, "a", 2))["rolled_back_deployments"] == 0


def test_commits_that_are_unknown_are_never_rolled_back() -> None:
    found = figures(success(1, "a", 1), success(2, None, 2), success(3, "a", 3))
    assert found["rolled_back_deployments"] == 0


def test_a_deployment_that_failed_after_its_success_has_failed() -> None:
    found = figures(success(1, "a", 1, failed_at=at(4), committed_at=at(0)), success(2, "b", 6))
    assert (found["deployments"], found["failed_deployments"]) == (1, 1)
    assert found["lead_time_in_ms"]["count"] == 0
    assert found["time_to_restore_in_ms"] == {"p50": 2 * HOUR, "p90": 2 * HOUR, "count": 1}


def test_a_deployment_that_succeeded_after_its_failure_has_succeeded() -> None:
    found = figures(success(1, "a", 4, failed_at=at(1)))
    assert (found["deployments"], found["failed_deployments"]) == (1, 0)
    assert found["time_to_restore_in_ms"]["count"] == 0


def test_failures_in_a_row_are_one_outage_from_the_first_on() -> None:
    found = figures(failure(1, "a", 1), failure(2, "b", 2), success(3, "c", 4), failure(4, "d", 5))
    assert found["time_to_restore_in_ms"] == {"p50": 3 * HOUR, "p90": 3 * HOUR, "count": 1}


def test_a_rolled_back_deployment_is_an_outage_from_its_success_on() -> None:
    found = figures(success(1, "a", 1), success(2, "b", 2), success(3, "a", 7))
    assert found["time_to_restore_in_ms"] == {"p50": 5 * HOUR, "p90": 5 * HOUR, "count": 1}


def test_weeks_begin_on_monday() -> None:
    found = measure([success(1, "a", 24 * 7)], since=at(50), until=UNTIL, bucket=Bucket.WEEK)
    assert [(each["start"], each["deployments"]) for each in found["over_time"]] == [(at(0), 0), (at(24 * 7), 1)]


def expected_figures(deployments: Iterable[Deployed]) -> dict[str, Any]:
    """Computed in another way: from lists of whole hours, without an order in which things are walked through."""
    all_of_them = list(deployments)

    def in_range(text: str) -> bool:
        return SINCE <= text < UNTIL

    def order(each: Deployed) -> tuple[str, int]:
        assert each.succeeded_at
        return each.succeeded_at, each.deployment_id

    def before(each: Deployed) -> list[Deployed]:
        return [other for other in live if order(other) < order(each)]

    def last_before(each: Deployed) -> Deployed | None:
        return max(before(each), key=order, default=None)

    def is_rollback(each: Deployed) -> bool:
        last = last_before(each)
        return bool(
            last and last.head_sha != each.head_sha and any(other.head_sha == each.head_sha for other in before(last))
        )

    live = [each for each in all_of_them if each.succeeded_at]
    bad = [
        each
        for each in all_of_them
        if each.failed_at and not (each.succeeded_at and each.succeeded_at > each.failed_at)
    ]
    good = [each for each in live if each not in bad]
    undone = [last for each in live if is_rollback(each) and (last := last_before(each))]
    successes = [each for each in good if in_range(order(each)[0])]
    failures = [each for each in bad if in_range(str(each.failed_at))]
    rolled_back = [each for each in successes if each in undone]
    finished = len(successes) + len(failures)
    leads = sorted(
        _ms(each.committed_at, each.succeeded_at)
        for each in successes
        if each.committed_at
        and each.committed_at <= order(each)[0]
        and not any(other.head_sha == each.head_sha for other in before(each))
    )
    # An outage lasts from its first failure after the last success until the next success.
    begins = sorted(
        {(str(each.failed_at), each.deployment_id, 0) for each in bad} | {(*order(each), 1) for each in undone}
    )
    ends = sorted((*order(each), 1) for each in live)
    outages: dict[tuple[str, int, int], tuple[str, int, int]] = {}
    for begin in begins:
        later = [end for end in ends if end > begin]
        if later:
            outages[later[0]] = min(begin, outages.get(later[0], begin))
    restores = sorted(_ms(begin[0], end[0]) for end, begin in outages.items() if in_range(end[0]))
    return {
        "deployments": len(successes),
        "failed_deployments": len(failures),
        "rolled_back_deployments": len(rolled_back),
        "change_failure_rate": Fraction(len(failures) + len(rolled_back), finished) if finished else None,
        "lead_time_in_ms": _summary(leads),
        "time_to_restore_in_ms": _summary(restores),
    }


def _ms(start: str | None, end: str | None) -> int:
    assert start
    assert end
    return (datetime.fromisoformat(end) - datetime.fromisoformat(start)) // timedelta(milliseconds=1)


def _summary(values: list[int]) -> dict[str, int | None]:
    def percentile(share: Fraction) -> int | None:
        return next((each for n, each in enumerate(values, 1) if Fraction(n, len(values)) >= share), None)

    return {"p50": percentile(Fraction(1, 2)), "p90": percentile(Fraction(9, 10)), "count": len(values)}


HOURS = st.none() | st.integers(min_value=-48, max_value=24 * 15).map(at)
DEPLOYMENTS = st.lists(
    st.builds(
        Deployed,
        deployment_id=st.integers(min_value=1, max_value=10_000),
        head_sha=st.sampled_from("abcd"),
        succeeded_at=HOURS,
        failed_at=HOURS,
        committed_at=HOURS,
    ),
    unique_by=lambda each: each.deployment_id,
    max_size=25,
)


@given(deployments=DEPLOYMENTS)
@settings(max_examples=400)
def test_all_figures_match_an_independent_computation(deployments: list[Deployed]) -> None:
    found = figures(*deployments)
    for name, value in expected_figures(deployments).items():
        assert found[name] == pytest.approx(float(value)) if isinstance(value, Fraction) else found[name] == value, name


@given(deployments=DEPLOYMENTS, bucket=st.sampled_from(Bucket))
def test_the_points_add_up_to_the_whole_range(deployments: list[Deployed], bucket: Bucket) -> None:
    found = figures(*deployments, bucket=bucket)
    for name in ("deployments", "failed_deployments"):
        assert sum(each[name] for each in found["over_time"]) == found[name]
    known = sum(each["lead_time_p50_in_ms"] is not None for each in found["over_time"])
    assert (known > 0) == (found["lead_time_in_ms"]["count"] > 0)


@given(deployments=DEPLOYMENTS, data=st.data())
def test_the_order_of_deployments_does_not_matter(deployments: list[Deployed], data: st.DataObject) -> None:
    assert figures(*data.draw(st.permutations(deployments))) == figures(*deployments)
