"""A request for a runner: the message on the bus fits its schema, and is sent by the pass that recorded it."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from runledger.model.errors import UnavailableError
from runledger.model.inputs import Receipt, Status
from runledger.model.job import Job
from runledger.reconciliation.runner_requests import RunnerRequests
from runledger.recording.decision import Decision, decide

from tests.support.webhooks import INSTALLATION, JOB, QUEUED, receipt

SCHEMA = json.loads((Path(__file__).parent.parent.parent / "docs" / "runner-requested.v1.schema.json").read_text())
NOW = "2025-01-15T11:00:00.000Z"


class Bus:
    """Stands where EventBridge is: what is put there is remembered, and may be refused."""

    def __init__(self, *, failed: int = 0) -> None:
        self.failed = failed
        self.entries: list[dict[str, Any]] = []

    def put_events(self, *, Entries: list[dict[str, Any]]) -> dict[str, Any]:  # noqa: N803
        self.entries += Entries
        return {"FailedEntryCount": self.failed, "Entries": [{"ErrorCode": "ThrottlingException"}]}


def stuck(**about: Any) -> Job:
    return replace(decide(None, receipt(QUEUED)).job, **about)


def request(job: Job, bus: Bus) -> list[Receipt]:
    recorded: list[Receipt] = []

    def record(receipt: Receipt) -> Decision:
        recorded.append(receipt)
        return decide(job, receipt)

    RunnerRequests(events=bus, bus="ours", record=record).request(job, at=NOW)
    return recorded


def test_the_message_fits_the_published_schema() -> None:
    bus = Bus()
    request(stuck(), bus)
    request(stuck(status=Status.SCHEDULED, instance_id="i-1", runner_requests=3), bus)
    for entry in bus.entries:
        assert (entry["Source"], entry["DetailType"], entry["EventBusName"]) == (
            "runledger",
            "runner_requested",
            "ours",
        )
        Draft202012Validator(SCHEMA).validate(json.loads(entry["Detail"]))
    first, fourth = (json.loads(entry["Detail"]) for entry in bus.entries)
    assert (first["request"], first["event_id"]) == (1, f"runner request 1 for {INSTALLATION}#{JOB}")
    assert (fourth["request"], fourth["previous_runner_id"]) == (4, "i-1")


def test_the_request_is_a_line_of_history_that_takes_the_runner_away() -> None:
    job = stuck(status=Status.SCHEDULED, instance_id="i-1", pool_name="small", scheduled_at=NOW)
    (requested,) = request(job, Bus())
    after = decide(job, requested).job
    assert (after.status, after.instance_id, after.pool_name) == (Status.QUEUED, None, None)
    assert (after.runner_requests, after.runner_requested_at) == (1, NOW)


def test_two_passes_that_request_the_same_count_once() -> None:
    job = stuck()
    (requested,) = request(job, Bus())
    after = decide(job, requested).job
    again = decide(after, replace(requested, received_at="2025-01-15T11:00:01.000Z"))
    assert (again.outcome, again.job.runner_requests) == ("duplicate", 1)


def test_a_request_that_another_pass_has_made_is_not_sent_again() -> None:
    job, bus = stuck(), Bus()
    (made,) = request(job, Bus())
    after = decide(job, made).job
    requests = RunnerRequests(events=bus, bus="ours", record=lambda receipt: decide(after, receipt))
    assert requests.request(job, at=NOW) is None
    assert bus.entries == []


def test_a_request_that_the_bus_does_not_take_is_an_error() -> None:
    """It counts: the next one is due after the usual pause, and no job is given two machines."""
    with pytest.raises(UnavailableError, match="the event bus rejected a runner request"):
        request(stuck(), Bus(failed=1))
