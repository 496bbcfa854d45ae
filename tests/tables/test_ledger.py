"""The write protocol on a real engine: what is stored, and which write loses which race."""

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from runledger.model.errors import ContendedError, LostRace
from runledger.model.inputs import Receipt
from runledger.reconciliation.runner_requests import RunnerRequests
from runledger.recording.decision import Decision, Outcome, decide
from runledger.recording.ledger import Ledger

from tests.support.beds import items
from tests.support.ledgers import EVENTS, JOBS, ledger_on
from tests.support.webhooks import COMPLETED, IN_PROGRESS, INSTALLATION, JOB, LIFE, QUEUED, REPO, RUN, WAITING, receipt

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


def life() -> list[Receipt]:
    return [receipt(step, at=second) for second, step in enumerate(LIFE)]


def test_all_events_of_a_job_are_one_item_and_one_line_of_history_each(dynamodb: "DynamoDBClient") -> None:
    ledger = ledger_on(dynamodb)
    for each in life():
        assert ledger.record(each).outcome is Outcome.RECORDED
    job, registration, repository = items(dynamodb, JOBS)
    assert (job["PK"], job["SK"]) == (f"{INSTALLATION}#{JOB}", "v")
    assert job["by_status"] == f"{INSTALLATION}#completed"
    assert job["by_run"] == f"{INSTALLATION}#{RUN}#1"
    assert job["by_repo"] == f"{INSTALLATION}#lineville/elastic-machines-testing"
    assert job["version"] == len(LIFE)
    assert job["ttl"] == 1_736_935_204 + 90 * 86_400
    assert (registration["PK"], registration["SK"]) == ("installations", str(INSTALLATION))
    assert (repository["PK"], repository["SK"]) == (f"repositories#{INSTALLATION}", REPO)
    history = items(dynamodb, EVENTS)
    assert [line["event_type"] for line in history] == [
        *("webhook_queued", "webhook_waiting", "webhook_queued", "webhook_in_progress", "webhook_completed")
    ]
    assert history[1]["changes"] == {
        "status": {"from": "queued", "to": "waiting"},
        "approval_requested_at": {"to": "2025-01-15T10:00:00.000Z"},
    }
    assert history[0]["SK"].startswith("2025-01-15T10:00:00.123Z#webhook_queued#")
    assert history[0]["ttl"] == 1_736_935_200 + 14 * 86_400


def test_no_null_is_stored(dynamodb: "DynamoDBClient") -> None:
    ledger_on(dynamodb).record(receipt(QUEUED, head_branch=None))
    assert None not in items(dynamodb, JOBS)[0].values()
    assert "head_branch" not in items(dynamodb, JOBS)[0]


@pytest.mark.parametrize("step", LIFE)
def test_a_redelivery_is_a_flagged_line_of_history_and_changes_no_job(dynamodb: "DynamoDBClient", step: str) -> None:
    ledger = ledger_on(dynamodb)
    for each in life():
        ledger.record(each)
    before = items(dynamodb, JOBS)
    assert ledger.record(receipt(step, at=600)).outcome is Outcome.DUPLICATE
    assert items(dynamodb, JOBS) == before
    *lines, last = items(dynamodb, EVENTS)
    assert (last["duplicate"], "changes" in last) == (True, False)
    assert not any("duplicate" in line for line in lines)


@pytest.mark.parametrize("step", LIFE)
def test_our_own_retry_of_a_recorded_receipt_changes_nothing(dynamodb: "DynamoDBClient", step: str) -> None:
    ledger = ledger_on(dynamodb)
    for each in life():
        ledger.record(each)
    before = items(dynamodb, JOBS), items(dynamodb, EVENTS)
    assert ledger.record(receipt(step, at=LIFE.index(step))).outcome is Outcome.REPEATED
    assert (items(dynamodb, JOBS), items(dynamodb, EVENTS)) == before


def test_late_queued_never_reopens_a_completed_job_but_is_in_the_history(dynamodb: "DynamoDBClient") -> None:
    ledger = ledger_on(dynamodb)
    ledger.record(receipt(COMPLETED, at=1))
    ledger.record(receipt(QUEUED, at=2))
    assert items(dynamodb, JOBS)[0]["status"] == "completed"
    assert [line["status"] for line in items(dynamodb, EVENTS)] == ["completed", "completed"]


def test_creating_a_job_that_exists_fails(dynamodb: "DynamoDBClient") -> None:
    ledger = ledger_on(dynamodb)
    ledger.record(receipt(QUEUED))
    with pytest.raises(LostRace):
        ledger.jobs.save(None, decide(None, receipt(WAITING)).job)


def test_saving_a_job_that_has_changed_since_it_was_read_fails(dynamodb: "DynamoDBClient") -> None:
    ledger = ledger_on(dynamodb)
    read = ledger.record(receipt(QUEUED)).job
    ledger.record(receipt(WAITING, at=1))
    with pytest.raises(LostRace):
        ledger.jobs.save(read, decide(read, receipt(IN_PROGRESS, at=2)).job)
    assert items(dynamodb, JOBS)[0]["status"] == "waiting"


def test_a_write_that_loses_a_race_is_decided_again_on_the_saved_job(dynamodb: "DynamoDBClient") -> None:
    """Between our read and our write, another process records `in_progress`."""
    faster = [receipt(IN_PROGRESS, at=1)]
    ledger = ledger_on(dynamodb, pause=lambda _: None)
    ledger.record(receipt(QUEUED))
    save = type(ledger.jobs).save

    def overtaken(*arguments: object) -> bool:
        if faster:
            ledger_on(dynamodb).record(faster.pop())
        return save(ledger.jobs, *arguments)  # type: ignore[arg-type]

    ledger.jobs.save = overtaken  # type: ignore[method-assign,assignment]
    ledger.record(receipt(COMPLETED, at=2))
    job = items(dynamodb, JOBS)[0]
    assert (job["status"], job["version"], job["runner_id"]) == ("completed", 3, 42)
    assert items(dynamodb, EVENTS)[-1]["changes"]["status"] == {"from": "in_progress", "to": "completed"}


def test_two_passes_of_the_same_millisecond_send_one_request_for_a_runner(dynamodb: "DynamoDBClient") -> None:
    """Both compute the same job, so the slower write finds what it wanted to save."""
    sent: list[Any] = []

    def put_events(**entries: Any) -> dict[str, int]:
        sent.append(entries)
        return {"FailedEntryCount": 0}

    bus = SimpleNamespace(put_events=put_events)
    slower, faster = ledger_on(dynamodb, pause=lambda _: None), ledger_on(dynamodb)
    job, save = slower.record(receipt(QUEUED)).job, type(slower.jobs).save

    def request(ledger: Ledger) -> Decision | None:
        return RunnerRequests(events=bus, bus="ours", record=ledger.record).request(job, at="2025-01-15T11:00:00.000Z")

    def overtaken(*arguments: object) -> bool:
        if not sent:
            assert request(faster)
        return save(slower.jobs, *arguments)  # type: ignore[arg-type]

    slower.jobs.save = overtaken  # type: ignore[method-assign,assignment]
    assert request(slower) is None
    assert len(sent) == 1
    assert items(dynamodb, JOBS)[0]["runner_requests"] == 1


def test_a_write_that_loses_every_race_is_unavailable_so_that_the_receipt_is_kept(dynamodb: "DynamoDBClient") -> None:
    pauses: list[int] = []
    ledger = ledger_on(dynamodb, pause=pauses.append)

    def always_lost(*_: object) -> None:
        raise LostRace(None)

    ledger.jobs.save = always_lost  # type: ignore[method-assign,assignment]
    with pytest.raises(ContendedError):
        ledger.record(receipt(COMPLETED))
    assert pauses == list(range(30))


def test_attributes_that_a_newer_version_wrote_stay(dynamodb: "DynamoDBClient") -> None:
    ledger = ledger_on(dynamodb)
    ledger.record(receipt(QUEUED))
    dynamodb.update_item(
        TableName=JOBS,
        Key={"PK": {"S": f"{INSTALLATION}#{JOB}"}, "SK": {"S": "v"}},
        UpdateExpression="SET weather = :sunny",
        ExpressionAttributeValues={":sunny": {"S": "sunny"}},
    )
    ledger.record(receipt(COMPLETED, at=1))
    job = items(dynamodb, JOBS)[0]
    assert (job["weather"], job["status"]) == ("sunny", "completed")


def test_an_installation_is_registered_once_and_keeps_its_first_sight(dynamodb: "DynamoDBClient") -> None:
    ledger_on(dynamodb).record(receipt(QUEUED, at=1))
    ledger_on(dynamodb).record(receipt(QUEUED, at=2, job_id=7))
    registered = [item for item in items(dynamodb, JOBS) if item["PK"] == "installations"]
    assert [item["first_seen_at"] for item in registered] == ["2025-01-15T10:00:01.123Z"]
    assert [item["org_name"] for item in registered] == ["lineville"]


@pytest.mark.parametrize(
    ("index", "partition"),
    [
        ("by_status", f"{INSTALLATION}#completed"),
        ("by_repo", f"{INSTALLATION}#lineville/elastic-machines-testing"),
        ("by_run", f"{INSTALLATION}#{RUN}#1"),
        ("by_completion", f"{INSTALLATION}"),
    ],
)
def test_a_job_is_found_through_each_index(dynamodb: "DynamoDBClient", index: str, partition: str) -> None:
    sort = "completed_at" if index == "by_completion" else "created_at"
    ledger_on(dynamodb).record(receipt(COMPLETED))
    response = dynamodb.query(
        TableName=JOBS,
        IndexName=index,
        KeyConditionExpression="#p = :p AND #s BETWEEN :a AND :b",
        ExpressionAttributeNames={"#p": index, "#s": sort},
        ExpressionAttributeValues={":p": {"S": partition}, ":a": {"S": "2025-01-15"}, ":b": {"S": "2025-01-16"}},
    )
    assert [item["PK"]["S"] for item in response["Items"]] == [f"{INSTALLATION}#{JOB}"]
    assert ("conclusion" in response["Items"][0]) is (index == "by_completion")
