"""Events about machines and corrections, and what the reconciler finds."""

import json
from datetime import datetime
from typing import Any

import pytest
from runledger.feeds import findings, queue, stream
from runledger.feeds.events import FeedType, custom_type_problem, is_kept
from runledger.model.errors import UnavailableError

from tests.feeds.streams import TABLES, Pipeline
from tests.feeds.test_translation import AT, JOB_ITEM, change, types_of
from tests.support.ledgers import decided
from tests.support.webhooks import QUEUED, receipt

RUNNER = {"runner_id": "i-1", "installation_id": 7, "proven_by": "launcher_tag", "status": "active", "created_at": AT}
SUSPECTED = RUNNER | {"suspected_at": AT, "suspected_reason": "no_job"}


def test_an_orphan_is_found_and_cleaned_once() -> None:
    cleaning, cleaned = SUSPECTED | {"status": "cleaning"}, SUSPECTED | {"status": "cleaned", "terminated_at": AT}
    changes = [
        change("runners", RUNNER, SUSPECTED),
        change("runners", SUSPECTED, cleaning),
        change("runners", cleaning, cleaned),
        change("runners", cleaned, cleaned | {"version": 9}),
    ]
    assert types_of(*changes) == ["runner.orphaned", "runner.cleaned"]


def test_the_normal_end_of_a_machine_is_no_event() -> None:
    assert types_of(change("runners", RUNNER, RUNNER | {"status": "cleaned", "terminated_at": AT})) == []


@pytest.mark.parametrize(
    "owner",
    [
        {"proven_by": "scoped_launcher_event"},
        {"proven_by": None},
        {"installation_id": None},
        {"contested_at": AT, "contested_by": 8},
    ],
)
def test_a_machine_without_a_proven_owner_is_in_no_feed(owner: dict[str, Any]) -> None:
    assert types_of(change("runners", RUNNER | owner, SUSPECTED | owner)) == []


def test_a_correction_is_reconciled_once_and_only_if_it_changed_the_job() -> None:
    line = {
        "installation_id": 7,
        "job_id": 1,
        "timestamp": AT,
        "event_type": "job_reconciled",
        "status": "completed",
        "delivery_id": "reconciled 1",
        "action": "completed (success) on GitHub",
        "version": 3,
    }
    changed = line | {"changes": {"status": {"from": "queued", "to": "completed"}}}
    assert types_of(change("workflow_job_events", {}, changed)) == ["job.reconciled"]
    assert types_of(change("workflow_job_events", changed, changed | {"version": 4})) == []
    assert types_of(change("workflow_job_events", {}, line)) == []
    assert types_of(change("workflow_job_events", {}, changed | {"event_type": "webhook_completed"})) == []


def test_a_finding_of_every_pass_has_one_id_for_as_long_as_it_lasts() -> None:
    job = decided([receipt(QUEUED)])
    first, again = (findings.stuck_job(job, since=AT, at=at) for at in (AT, "2025-01-15T10:05:00.000Z"))
    assert first.event_id == again.event_id
    assert findings.stuck_job(job, since="2025-01-15T10:01:00.000Z", at=AT).event_id != first.event_id
    assert first.payload["stuck_since"] == AT
    json.dumps(first.payload)


def test_a_record_that_cannot_be_translated_is_discarded_and_the_others_are_sent() -> None:
    good = change("workflow_jobs", {}, JOB_ITEM | {"status": "queued"})
    broken = change("workflow_jobs", {}, {"job_id": 1, "status": "queued", "version": 1})
    pipeline = Pipeline(None)
    assert pipeline.forward([broken, good]) == {"batchItemFailures": []}
    assert pipeline.discarded == [broken]
    ((_, body),) = pipeline.sqs.messages
    assert [each.event_type for each in queue.read(body)] == ["job.queued"]


def test_a_batch_is_repeated_while_a_record_can_be_neither_translated_nor_discarded(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def discard(_: object) -> None:
        raise UnavailableError("away")

    broken = change("workflow_jobs", {}, {"job_id": 1, "status": "queued", "version": 1})
    response = stream.forward([broken], tables=TABLES, send=lambda _: 0, discard=discard)
    assert response == {"batchItemFailures": [{"itemIdentifier": broken["dynamodb"]["SequenceNumber"]}]}
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines() if "MessagesFailed" in line]
    assert [line["MessagesFailed"] for line in lines] == [1]


@pytest.mark.parametrize(("days", "types"), [(2, ["job.queued"]), (4, [])])
def test_a_job_that_a_migration_or_a_recovery_writes_is_no_news(days: int, types: list[str]) -> None:
    record = change("workflow_jobs", {}, JOB_ITEM | {"status": "queued"})
    created = datetime.fromisoformat(str(JOB_ITEM["created_at"])).timestamp()
    record["dynamodb"] = record["dynamodb"] | {"ApproximateCreationDateTime": created + days * 86_400}
    assert types_of(record) == types


def test_a_job_that_waited_long_for_its_approval_is_news() -> None:
    approved_at = "2025-01-20T10:00:00.000Z"
    waiting = JOB_ITEM | {"status": "waiting"}
    record = change("workflow_jobs", waiting, waiting | {"approved_at": approved_at})
    at = datetime.fromisoformat(approved_at).timestamp()
    record["dynamodb"] = record["dynamodb"] | {"ApproximateCreationDateTime": at}
    assert types_of(record) == ["approval.given"]


def test_types_are_kept_by_name_or_by_pattern() -> None:
    kept = ("job.failed", "approval.*")
    assert [each for each in FeedType if is_kept(each, kept)] == [
        *("job.failed", "approval.requested", "approval.given", "approval.refused", "approval.forgotten"),
    ]


@pytest.mark.parametrize("name", ["job.done", "runledger.x", "Release.x", "release", "a..b", ".a.b", "a." + "b" * 99])
def test_a_type_that_is_reserved_or_malformed_is_not_a_teams_own(name: str) -> None:
    assert custom_type_problem(name)
    assert custom_type_problem("audit.finished") is None
