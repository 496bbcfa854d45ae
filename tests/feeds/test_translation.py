"""Which events follow from which changes of the tables."""

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from runledger.feeds import stream
from runledger.feeds.events import FeedEvent
from runledger.model.reports import Approval, DeploymentReport, RunReport, RunStatus
from runledger.tables.attributes import to_attributes

from tests.feeds.streams import ALL_TABLES, TABLES, Record, record_changes
from tests.simulation.engine import Engine
from tests.support.ledgers import ledger_on
from tests.support.webhooks import COMPLETED, IN_PROGRESS, INSTALLATION, JOB, QUEUED, REPO, RUN, WAITING, receipt

if TYPE_CHECKING:
    from runledger.recording.ledger import Ledger

AT = "2025-01-15T10:00:00.000Z"


def forwarded(records: list[Record]) -> tuple[list[FeedEvent], Any]:
    """The events that are sent, and the response for Lambda."""
    sent: list[FeedEvent] = []

    def send(events: Iterable[FeedEvent]) -> int:
        sent.extend(events)
        return len(sent)

    return sent, stream.forward(records, tables=TABLES, send=send, discard=list[Any]().append)


class Tables:
    """A ledger, and what its changes mean to the feed."""

    def __init__(self) -> None:
        self.engine = Engine(ALL_TABLES)
        self.records: list[Record] = record_changes(self.engine)
        self.ledger: Ledger = ledger_on(self.engine)  # type: ignore[arg-type]

    def events(self) -> list[FeedEvent]:
        return forwarded(self.records)[0]

    def types(self) -> list[str]:
        return [event.event_type for event in self.events()]


@pytest.fixture
def tables() -> Tables:
    return Tables()


def test_a_job_has_the_events_queued_started_and_completed(tables: Tables) -> None:
    for step in (QUEUED, IN_PROGRESS, COMPLETED):
        tables.ledger.record(receipt(step))
    found = tables.events()
    jobs = [each for each in found if each.subject == f"jobs/{JOB}"]
    assert [each.event_type for each in jobs] in (
        ["job.queued", "job.started", "job.completed"],
        ["job.queued", "job.started", "job.failed"],
    )
    assert {each.installation_id for each in jobs} == {INSTALLATION}
    assert jobs[-1].payload["repo_full_name"] == REPO
    assert jobs[-1].payload["status"] == "completed"


def test_a_duplicate_and_a_late_webhook_are_no_events(tables: Tables) -> None:
    for step in (QUEUED, IN_PROGRESS, COMPLETED):
        tables.ledger.record(receipt(step))
    known = tables.types()
    tables.ledger.record(receipt(QUEUED, at=1800, guid="again"))
    tables.ledger.record(replace(receipt(IN_PROGRESS, at=1801, guid="late"), body_digest="e" * 64))
    assert tables.types() == known


def test_a_failed_job_is_failed_and_not_completed(tables: Tables) -> None:
    failed = receipt(COMPLETED)
    tables.ledger.record(replace(failed, facts=replace(failed.facts, conclusion="timed_out")))
    assert tables.types() == ["job.failed"]


def test_a_corrected_conclusion_is_another_event(tables: Tables) -> None:
    first = receipt(COMPLETED)
    tables.ledger.record(replace(first, facts=replace(first.facts, conclusion="cancelled")))
    again = receipt(COMPLETED, guid="corrected", at=1800)
    corrected = replace(again, body_digest="f" * 64, facts=replace(again.facts, conclusion="failure"))
    tables.ledger.record(corrected)
    found = tables.events()
    assert [each.event_type for each in found] == ["job.completed", "job.failed"]
    assert len({each.event_id for each in found}) == 2


def test_two_conclusions_of_the_same_type_are_two_events() -> None:
    cancelled = JOB_ITEM | {"status": "completed", "conclusion": "cancelled", "completed_at": AT}
    succeeded = cancelled | {"conclusion": "success"}
    changes = [change("workflow_jobs", JOB_ITEM, cancelled), change("workflow_jobs", cancelled, succeeded)]
    found, _ = forwarded(changes)
    assert [each.event_type for each in found] == ["job.completed"] * 2
    assert len({each.event_id for each in found}) == 2


def test_ids_are_the_same_for_repeated_records_and_for_a_rebuilt_item(tables: Tables) -> None:
    for step in (QUEUED, IN_PROGRESS, COMPLETED):
        tables.ledger.record(receipt(step))
    first = tables.events()
    assert tables.events() == first
    job = next(each for each in reversed(tables.records) if "workflow_jobs/" in each["eventSourceARN"])
    rebuilt = job | {"eventName": "INSERT", "dynamodb": {**job["dynamodb"], "OldImage": None}}
    tables.records[:] = [rebuilt]
    assert {each.event_id for each in tables.events()} <= {each.event_id for each in first}


def test_expired_items_and_the_registry_are_no_events(tables: Tables) -> None:
    tables.ledger.record(receipt(QUEUED))
    assert any("org_name" in str(each) for each in tables.records)
    removed = [each | {"eventName": "REMOVE"} for each in tables.records]
    assert tables.types() == ["job.queued"]
    tables.records[:] = removed
    assert tables.types() == []


def test_a_waiting_job_requests_an_approval(tables: Tables) -> None:
    tables.ledger.record(receipt(WAITING))
    assert tables.types() == ["approval.requested"]


def change(table: str, before: dict[str, Any], after: dict[str, Any]) -> Record:
    images = {"OldImage": to_attributes(before)} if before else {}
    return {
        "eventID": "e1",
        "eventName": "MODIFY" if before else "INSERT",
        "eventSourceARN": f"arn:aws:dynamodb:us-east-1:000000000000:table/{table}/stream/now",
        "dynamodb": {"SequenceNumber": "1", "NewImage": to_attributes(after), **images},
    }


def types_of(*changes: Record) -> list[str]:
    sent, response = forwarded(list(changes))
    assert response == {"batchItemFailures": []}
    return [each.event_type for each in sent]


JOB_ITEM = {
    "installation_id": 7,
    "job_id": 1,
    "status": "in_progress",
    "version": 3,
    "created_at": AT,
    "last_updated_at": AT,
}


@pytest.mark.parametrize(
    ("added", "expected"),
    [
        ({"was_interrupted": True, "interrupted_at": AT, "instance_id": "i-1"}, "job.interrupted"),
        ({"runner_requests": 1, "runner_requested_at": AT}, "runner.requested"),
        ({"approved_at": AT}, "approval.given"),
        ({"rejected_at": AT}, "approval.refused"),
        ({"runner_name": "a-runner"}, None),
    ],
)
def test_a_new_fact_of_a_job_is_one_event(added: dict[str, Any], expected: str | None) -> None:
    after = JOB_ITEM | added
    assert types_of(change("workflow_jobs", JOB_ITEM, after)) == ([expected] if expected else [])
    assert types_of(change("workflow_jobs", after, after | {"version": 4})) == []


def test_a_machine_that_ends_before_the_completion_is_reported_is_no_interruption_yet() -> None:
    ended = JOB_ITEM | {"was_interrupted": True, "terminated_at": AT, "instance_id": "i-1"}
    assert types_of(change("workflow_jobs", JOB_ITEM, ended)) == []
    normal = JOB_ITEM | {"status": "completed", "conclusion": "success", "completed_at": AT, "terminated_at": AT}
    assert types_of(change("workflow_jobs", ended, normal)) == ["job.completed"]
    failed = ended | {"status": "completed", "conclusion": "failure", "completed_at": AT}
    assert types_of(change("workflow_jobs", ended, failed)) == ["job.interrupted", "job.failed"]


def test_a_job_that_loses_its_runner_is_queued_again() -> None:
    scheduled = JOB_ITEM | {"status": "scheduled"}
    queued = JOB_ITEM | {"status": "queued", "queued_reported_at": AT}
    assert types_of(change("workflow_jobs", scheduled, queued)) == ["job.queued"]


RUN_ITEM = {"installation_id": 7, "run_id": 2, "run_attempt": 1, "repo_full_name": "acme/a", "created_at": AT}


def test_a_run_ends_once_with_its_conclusion(tables: Tables) -> None:
    for status, conclusion, at in (
        (RunStatus.IN_PROGRESS, None, "2025-01-15T10:01:00.000Z"),
        (RunStatus.COMPLETED, "failure", "2025-01-15T10:02:00.000Z"),
        (RunStatus.COMPLETED, "failure", "2025-01-15T10:02:00.000Z"),
    ):
        tables.ledger.dispatch(
            RunReport(
                installation_id=INSTALLATION,
                run_id=RUN,
                run_attempt=1,
                reported_at=at,
                updated_at=at,
                status=status,
                conclusion=conclusion,
                repo_full_name=REPO,
                created_at=AT,
            )
        )
    assert tables.types() == ["run.failed"]


def test_counters_of_a_run_are_no_events() -> None:
    assert types_of(change("workflow_runs", {}, RUN_ITEM | {"status": "queued", "total_jobs": 1})) == []


def test_a_run_or_deployment_that_was_looked_up_is_no_news() -> None:
    old = {"checked_at": "2025-01-20T10:00:00.000Z"}
    run = RUN_ITEM | {"status": "completed", "conclusion": "success", "updated_at": AT}
    assert types_of(change("workflow_runs", {}, run | old)) == []
    assert types_of(change("workflow_runs", RUN_ITEM | {"status": "queued"}, run | old)) == ["run.completed"]
    deployment = {
        "installation_id": 7,
        "deployment_id": 3,
        "repo_full_name": "acme/a",
        "status": "approved",
        "created_at": AT,
    }
    assert types_of(change("deployments", {"claimed_until": AT}, deployment | old)) == []
    assert types_of(change("deployments", deployment | {"status": "pending"}, deployment | old)) == [
        "deployment.approved"
    ]


def test_a_deployment_is_created_and_then_decided_once(tables: Tables) -> None:
    report = DeploymentReport(
        installation_id=7, deployment_id=3, reported_at=AT, repo_full_name="acme/a", environment="production"
    )
    for each in (
        report,
        replace(report, status=Approval.PENDING),
        replace(report, status=Approval.REJECTED, reviewed_at=AT),
        replace(report, status=Approval.REJECTED, reviewed_at=AT),
    ):
        tables.ledger.dispatch(each)
    assert tables.types() == ["deployment.created", "deployment.rejected"]
