"""Where a machine is, and what follows from its absence there."""

from dataclasses import replace

import pytest
from runledger.model.assignments import Occurrence, OccurrenceKind
from runledger.model.places import UNKNOWN_PLACE, Place, Scope, place_of, region_of
from runledger.model.runner import Runner

AT = "2025-01-15T10:00:00.000Z"
OURS, THEIRS = "123456789012", "999999999999"
SCOPE = Scope(account_id=OURS, regions=("us-east-1", "eu-west-1"))
HERE = Place(account_id=OURS, region="eu-west-1")
TASK = f"arn:aws:ecs:eu-central-1:{THEIRS}:task/runners/" + "0a" * 16
RUNNER = Runner(runner_id="i-0abc1234def567890", created_at=AT)


@pytest.mark.parametrize(
    ("place", "covered"),
    [
        (HERE, True),
        (replace(HERE, region="us-east-1"), True),
        (replace(HERE, region="ap-south-1"), False),
        (replace(HERE, account_id=THEIRS), False),
        (replace(HERE, account_id=None), False),
        (replace(HERE, region=None), False),
        (UNKNOWN_PLACE, False),
    ],
)
def test_a_machine_is_in_scope_if_account_and_region_are_known_and_ours(place: Place, covered: bool) -> None:
    assert SCOPE.covers(place) is covered


def test_a_task_names_its_place_and_an_instance_does_not() -> None:
    assert place_of(TASK) == Place(account_id=THEIRS, region="eu-central-1")
    assert place_of(RUNNER.runner_id) == UNKNOWN_PLACE


@pytest.mark.parametrize(
    ("zone", "region"),
    [
        ("us-west-2a", "us-west-2"),
        ("us-west-2-lax-1a", "us-west-2"),
        ("us-gov-east-1b", "us-gov-east-1"),
        ("use1-az1", None),
        ("", None),
        (None, None),
    ],
)
def test_an_availability_zone_names_its_region(zone: str | None, region: str | None) -> None:
    assert region_of(zone) == region


def test_where_aws_confirms_a_machine_beats_every_report_in_any_order() -> None:
    reported = Place(account_id=THEIRS, region="eu-central-1")
    assert RUNNER.reported_in(reported).place == reported
    assert RUNNER.reported_in(reported).confirmed(AT, HERE).place == HERE
    assert RUNNER.confirmed(AT, HERE).reported_in(reported).place == HERE


def test_the_arn_of_a_task_beats_the_report_of_its_launcher() -> None:
    task = replace(RUNNER, runner_id=TASK)
    assert task.reported_in(HERE).place == place_of(TASK)


def test_events_alone_make_no_machine_a_runner() -> None:
    seen = RUNNER.confirmed(AT, HERE).after(Occurrence(AT, OccurrenceKind.STARTED))
    assert not seen.is_known_runner
    assert seen.with_values(installation_id=1).is_known_runner
    assert seen.with_values(suspected_at=AT).is_known_runner
