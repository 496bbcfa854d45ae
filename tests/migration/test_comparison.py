"""The ledger is in order if it has what the webhooks in S3 contain, and may have more."""

from dataclasses import replace
from typing import Any

import pytest
from runledger.migration.comparison import differences, expected
from runledger.model.inputs import Status
from runledger.model.job import Job

from tests.support.webhooks import COMPLETED, IN_PROGRESS, QUEUED, WAITING, receipt

LIFE = [receipt(step, at=number) for number, step in enumerate((QUEUED, IN_PROGRESS, COMPLETED))]
JOB = expected(LIFE)


def found(job: Job | None, *, stored: Any = LIFE) -> list[tuple[str, Any]]:
    return [(each.attribute, each.recorded) for each in differences(stored, job)]


def test_the_same_job_has_no_differences() -> None:
    assert found(JOB) == []
    assert found(expected(reversed(LIFE))) == []


def test_a_missing_job_is_one_difference() -> None:
    assert found(None) == [("job", None)]


@pytest.mark.parametrize(
    ("name", "value"),
    [("conclusion", "failure"), ("runner_name", "another"), ("head_sha", "0"), ("repo_full_name", "another/repo")],
)
def test_another_value_is_a_difference(name: str, value: str) -> None:
    for recorded in (value, None):
        changed: dict[str, Any] = {name: recorded}
        assert found(replace(JOB, **changed)) == [(name, recorded)]


def test_a_ledger_that_is_behind_differs() -> None:
    behind = dict(found(expected(LIFE[:2])))
    assert behind["status"] is Status.IN_PROGRESS
    assert behind["completed_at"] is None


def test_a_ledger_that_is_ahead_is_in_order() -> None:
    assert found(JOB, stored=LIFE[:2]) == []
    assert found(replace(JOB, conclusion="failure"), stored=LIFE[:1]) == []
    waiting = expected([*LIFE[:1], receipt(WAITING, at=30)])
    assert found(waiting, stored=LIFE[:1]) == []


def test_a_ledger_that_is_ahead_still_has_the_same_identity() -> None:
    assert found(replace(JOB, head_sha="0"), stored=LIFE[:1]) == [("head_sha", "0")]


def test_what_webhooks_dont_contain_isnt_compared() -> None:
    more = replace(JOB, instance_id="i-0", scheduled_at="2025-01-15T10:00:01.000Z", was_interrupted=True, version=9)
    assert found(more) == []
    assert found(replace(JOB, created_at="2025-01-15T09:00:00.000Z")) == []


def test_a_difference_is_a_sentence_and_a_document() -> None:
    (difference,) = differences(LIFE, replace(JOB, conclusion="failure"))
    assert str(difference).endswith(": conclusion is success in S3 and failure in the ledger")
    assert difference.as_json()["ledger"] == "failure"
