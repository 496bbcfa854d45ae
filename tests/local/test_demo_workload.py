"""The demo's lives are told as GitHub would tell them, and GitHub knows how they ended."""

import json
from collections import Counter
from datetime import UTC, datetime
from typing import TypeVar

import pytest
from runledger.deliveries import Delivery as Received
from runledger.reading import webhooks

from local.github import records as github
from local.github_records import records
from local.lives import lives
from local.payloads.subjects import Delivery, Run
from tests.local.webhook_description import faults

NOW = datetime(2025, 1, 15, 10, tzinfo=UTC)
LIVES = lives(NOW)

Kind = TypeVar("Kind", bound=github.Record)


def test_the_same_moment_and_seed_give_the_same_lives() -> None:
    assert lives(NOW) == LIVES
    assert lives(NOW, seed=2) != LIVES


@pytest.mark.parametrize("event", sorted({each.event for each in LIVES}))
def test_payloads_have_the_shape_that_github_describes(event: str) -> None:
    assert [fault for each in LIVES if each.event == event for fault in faults(event, each.payload)] == []


def test_the_judge_of_shapes_is_awake() -> None:
    damaged = next(each.payload for each in LIVES if each.event == "workflow_run") | {"workflow_run": {"id": "one"}}
    assert faults("workflow_run", damaged)


def test_intake_reads_every_delivery() -> None:
    for each in LIVES:
        received = Received(
            event=each.event,
            delivery_id=each.delivery_id,
            body=json.dumps(each.payload).encode(),
            received_at="2025-01-15T10:00:00.000Z",
            received_by="a-log-stream",
        )
        assert [said.installation_id for said in webhooks.read(received)] == [each.installation_id]


def test_nothing_is_told_from_the_future_and_a_redelivery_keeps_its_id() -> None:
    assert max(each.sent_at for each in LIVES) <= NOW
    assert sorted(Counter(each.delivery_id for each in LIVES).values())[-4:] == [1, 2, 2, 2]


def test_every_run_begins_and_ends_only_with_its_last_job() -> None:
    told: dict[Run, list[Delivery]] = {}
    for each in LIVES:
        if isinstance(each.subject, Run):
            told.setdefault(each.subject, []).append(each)
    assert all(run[0].payload["action"] == "requested" for run in told.values())
    finished = {run.id for run, said in told.items() if said[-1].payload["action"] == "completed"}
    open_jobs = [job for job in _known(github.Job) if job.status != "completed"]
    assert open_jobs
    assert not finished & {job.run_id for job in open_jobs}


def test_github_knows_the_end_of_the_job_that_it_never_told() -> None:
    (lost,) = [each.payload["workflow_job"] for each in LIVES if each.lost]
    (job,) = [job for job in _known(github.Job) if job.id == lost["id"]]
    assert (job.status, job.conclusion) == ("completed", "failure")


def test_github_knows_the_last_state_of_jobs_whose_deliveries_came_late_or_twice() -> None:
    for name in ("smoke tests", "package"):
        assert {job.status for job in _known(github.Job) if job.name == name} == {"completed"}


def test_github_knows_who_waits_for_whom() -> None:
    assert sorted((each.awaits_approval, each.statuses[-1]["state"]) for each in _known(github.Deployment)) == [
        (False, "failure"),
        (False, "success"),
        (True, "waiting"),
        (True, "waiting"),
    ]


def test_an_installation_that_was_deleted_is_gone_from_github() -> None:
    assert {each.account for each in _known(github.Installation)} == {"acme", "globex"}


def _known(kind: type[Kind]) -> list[Kind]:
    return [record for record in records(LIVES) if isinstance(record, kind)]
