"""The streams of runs and deployments: relevant changes are recorded, and a bad record stops no other."""

import dataclasses
from typing import Any

import pytest
from runledger.model.errors import UnavailableError
from runledger.releases.recorder import HeadRecorder

from tests.releases.scenes import (
    MAIN,
    PRODUCTION,
    deployment,
    empty_engine,
    ended,
    heads_table,
    record,
    recorder,
    run,
    snapshot,
    stream,
)

RUNS, DEPLOYMENTS = "workflow_runs", "deployments"
DONE: dict[str, Any] = {"batchItemFailures": []}


def test_runs_and_deployments_reach_their_heads() -> None:
    engine = empty_engine()
    assert stream(engine).process([record(RUNS, run(1, "success")), record(RUNS, run(2, "failure"))]) == DONE
    assert stream(engine).process([record(DEPLOYMENTS, deployment(1, succeeded_at=1))]) == DONE
    head, environment = heads_table(engine).head(MAIN), heads_table(engine).environment(PRODUCTION)
    assert head
    assert environment
    assert (head["state"], environment["current"]["deployment_id"]) == ("red", 1)


class CountingRecorder:
    def __init__(self) -> None:
        self.runs: list[Any] = []
        self.deployments: list[Any] = []

    def record_runs(self, runs: Any) -> None:
        self.runs += runs

    def record_deployments(self, deployments: Any) -> None:
        self.deployments += deployments


def test_changes_that_concern_no_head_are_skipped() -> None:
    counting = CountingRecorder()
    watched = dataclasses.replace(stream(empty_engine()), recorder=counting)  # type: ignore[arg-type]
    before = run(1, "success")
    counted = before | {"total_jobs": 4, "completed_jobs": 1, "open_job_ids": {3}, "checked_at": "now", "ttl": 9}
    assert watched.process([record(RUNS, counted, before)]) == DONE
    decided = deployment(1) | {"status": "approved", "approved_at": "now", "job_ids": {1}}
    assert watched.process([record(DEPLOYMENTS, decided, deployment(1))]) == DONE
    assert (counting.runs, counting.deployments) == ([], [])
    watched.process([record(RUNS, before | {"conclusion": "failure"}, before)])
    assert len(counting.runs) == 1


def test_each_changed_run_is_passed_on_to_the_rebuilds() -> None:
    passed = list[Any]()
    watched = dataclasses.replace(stream(empty_engine()), run_changed=passed.append)
    dispatched = run(2, event="workflow_dispatch")
    watched.process([record(RUNS, run(1)), record(RUNS, dispatched), record(RUNS, dispatched, dispatched)])
    assert passed == [run(1), dispatched]


def test_expired_items_are_ignored() -> None:
    engine = empty_engine()
    expired = record(RUNS, run(1, "success")) | {"eventName": "REMOVE"}
    del expired["dynamodb"]["NewImage"]
    assert stream(engine).process([expired]) == DONE
    assert snapshot(engine) == {}


def test_a_record_that_cannot_be_processed_is_discarded_and_the_others_go_on() -> None:
    engine, discarded = empty_engine(), list[Any]()
    bad = record(RUNS, run(2, "success") | {"status": "unheard_of"}, number=2)
    batch = [record(RUNS, run(1, "success"), number=1), bad, record(RUNS, run(3, "failure"), number=3)]
    assert stream(engine, discarded).process(batch) == DONE
    assert discarded == [bad]
    assert snapshot(engine) == ended(empty_engine(), [run(1, "success"), run(3, "failure")])


class UnavailableOnce(HeadRecorder):
    failed = False

    def record_runs(self, runs: Any) -> None:
        super().record_runs(runs)
        if not type(self).failed:
            type(self).failed = True
            raise UnavailableError("DynamoDB")


def test_a_batch_fails_as_a_whole_if_a_service_is_unavailable_and_its_repetition_ends_alike() -> None:
    engine = empty_engine()
    watched = dataclasses.replace(stream(engine), recorder=UnavailableOnce(table=recorder(engine).table))
    batch = [record(RUNS, run(1, "success"), number=8), record(RUNS, run(2, "failure"), number=9)]
    assert watched.process(batch) == {"batchItemFailures": [{"itemIdentifier": "8"}]}
    assert watched.process(batch) == DONE
    assert snapshot(engine) == ended(empty_engine(), [run(1, "success"), run(2, "failure")])


def test_a_table_that_is_not_expected_is_an_error_of_the_deployment() -> None:
    discarded = list[Any]()
    strange = record("workflow_jobs", {"job_id": 1})
    assert stream(empty_engine(), discarded).process([strange]) == DONE
    assert discarded == [strange]


@pytest.mark.parametrize("kind", [RUNS, DEPLOYMENTS])
def test_items_of_other_kinds_are_ignored(kind: str) -> None:
    engine = empty_engine()
    others: list[dict[str, Any]] = [
        {"PK": "7#lookups", "SK": "12:00", "lookups": 3},
        {"PK": "7#1#1", "SK": "gate#production", "jobs": {"a"}},
    ]
    assert stream(engine).process([record(kind, other) for other in others]) == DONE
    assert snapshot(engine) == {}
