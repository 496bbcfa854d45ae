"""The phases `dual_write` and `dynamodb_first`: intake also puts each webhook of a job into S3."""

import json
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from runledger.migration import copies
from runledger.migration.copies import PAUSE_SECONDS, WebhookCopy
from runledger.migration.objects import LARGEST_BODY
from runledger.model.errors import Malformed, NewerMessage
from runledger.platform import clients
from runledger.webhooks import retry_queue

from tests.functions.conftest import BUCKET, Metrics, World
from tests.support.beds import items
from tests.support.ledgers import JOBS
from tests.support.webhooks import (
    COMPLETED,
    IN_PROGRESS,
    INSTALLATION,
    JOB,
    QUEUED,
    WAITING,
    http_event,
    payload,
    receipt,
)

KEY = f"webhooks/{INSTALLATION}/{JOB}/queued.json"


def deliver(world: World, step: str = QUEUED, *, guid: str | None = None, **changes: Any) -> dict[str, Any]:
    body = json.dumps(payload(step, **changes)).encode()
    response: dict[str, Any] = world.invoke("webhook_intake", http_event(body, guid=guid or f"guid of {step}"))
    return response


def keys(s3: Any) -> list[str]:
    return [each["Key"] for each in s3.list_objects_v2(Bucket=BUCKET).get("Contents", [])]


def unreachable(*_: object, **__: object) -> None:
    raise EndpointConnectionError(endpoint_url="https://aws.invalid")


def denied(*_: object, **__: object) -> None:
    raise ClientError({"Error": {"Code": "AccessDenied", "Message": "no"}}, "PutObject")


def test_by_default_nothing_is_put_into_s3(world: World, s3: Any) -> None:
    assert deliver(world)["statusCode"] == 202
    assert keys(s3) == []


def test_intake_puts_the_raw_delivery_under_the_old_key(world: World, dual_write: Any) -> None:
    assert deliver(world, guid="a guid ü")["statusCode"] == 202
    found = dual_write.get_object(Bucket=BUCKET, Key=KEY)
    assert found["Body"].read() == json.dumps(payload(QUEUED)).encode()
    stored = copies.from_metadata(found["Metadata"])
    assert (stored["delivery-id"], stored["received-at"]) == ("a guid ü", "2025-01-15T10:00:00.123Z")


@pytest.mark.usefixtures("dual_write")
def test_the_client_of_s3_is_made_before_the_first_webhook(world: World) -> None:
    """It takes twice as long as any other client, and with SnapStart the snapshot has it."""
    clients.client.cache_clear()
    world.start("webhook_intake")
    made = clients.client.cache_info().misses
    clients.client("s3")
    assert clients.client.cache_info().misses == made


def test_only_recorded_webhooks_of_jobs_are_copied(world: World, dual_write: Any) -> None:
    body = json.dumps(payload(QUEUED)).encode()
    world.invoke("webhook_intake", http_event(body, signature="sha256=forged"))
    world.invoke("webhook_intake", http_event(b'{"action": "created"}', event="star"))
    assert keys(dual_write) == []


@pytest.mark.parametrize("failure", [unreachable, denied])
def test_trouble_with_s3_defers_the_copy_and_never_fails_the_webhook(
    world: World, dual_write: Any, metrics: Metrics, monkeypatch: pytest.MonkeyPatch, failure: Callable[..., None]
) -> None:
    world.start("webhook_intake")
    with monkeypatch.context() as trouble:
        trouble.setattr(clients.client("s3"), "put_object", failure)
        assert json.loads(deliver(world)["body"]) == {"result": "recorded"}
    assert "WebhookCopiesDeferred" in metrics()
    assert (keys(dual_write), len(items(world.dynamodb, JOBS)) > 0) == ([], True)
    assert world.invoke("webhook_retry", {"Records": world.deferred()}) == {"batchItemFailures": []}
    assert keys(dual_write) == [KEY]
    assert dual_write.get_object(Bucket=BUCKET, Key=KEY)["Metadata"]["delivery-id"] == "guid%20of%20queued"


def test_after_a_request_without_a_response_s3_is_left_alone_for_a_while(
    world: World, dual_write: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each webhook would wait for the timeout, and GitHub for the webhook."""
    intake = world.start("webhook_intake")
    now, calls = 1000.0, list[int]()

    def silent(**_: object) -> None:
        calls.append(1)
        unreachable()

    monkeypatch.setattr(intake.intake.copy.pause, "_clock", lambda: now)
    with monkeypatch.context() as trouble:
        trouble.setattr(clients.client("s3"), "put_object", silent)
        for number in range(3):
            deliver(world, guid=str(number), job_id=JOB + number)
    assert (len(calls), len(world.deferred())) == (1, 3)
    now += PAUSE_SECONDS
    deliver(world, guid="later", job_id=JOB + 9)
    assert len(keys(dual_write)) == 1


def test_a_rejected_request_is_no_reason_to_leave_s3_alone(
    world: World, dual_write: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.start("webhook_intake")
    with monkeypatch.context() as trouble:
        trouble.setattr(clients.client("s3"), "put_object", denied)
        deliver(world)
    deliver(world, guid="next", job_id=JOB + 1)
    assert len(keys(dual_write)) == 1


def test_trouble_with_dynamodb_defers_the_entry_and_still_copies(
    world: World, dual_write: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    intake = world.start("webhook_intake")
    with monkeypatch.context() as trouble:
        trouble.setattr(intake.intake.ledger.events._table.client, "put_item", unreachable)
        assert json.loads(deliver(world)["body"]) == {"result": "deferred"}
    assert keys(dual_write) == [KEY]
    world.invoke("webhook_retry", {"Records": world.deferred()})
    assert [job["job_id"] for job in items(world.dynamodb, JOBS) if job["SK"] == "v"] == [JOB]


def test_trouble_with_both_stores_defers_both(world: World, dual_write: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    intake = world.start("webhook_intake")
    with monkeypatch.context() as trouble:
        trouble.setattr(intake.intake.ledger.events._table.client, "put_item", unreachable)
        trouble.setattr(clients.client("s3"), "put_object", unreachable)
        assert deliver(world)["statusCode"] == 202
    waiting = world.deferred()
    assert len(waiting) == 2
    assert world.invoke("webhook_retry", {"Records": waiting}) == {"batchItemFailures": []}
    assert keys(dual_write) == [KEY]
    assert [job["job_id"] for job in items(world.dynamodb, JOBS) if job["SK"] == "v"] == [JOB]


@pytest.mark.usefixtures("dual_write")
def test_a_copy_that_fails_again_stays_in_the_queue(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    record = {"messageId": "copy", "eventSource": "aws:sqs", "body": copies.to_message(a_copy())}
    monkeypatch.setattr(clients.client("s3"), "put_object", denied)
    assert world.invoke("webhook_retry", {"Records": [record]}) == {"batchItemFailures": [{"itemIdentifier": "copy"}]}


def test_a_copy_that_waited_until_the_phase_ended_is_dropped(world: World, s3: Any, metrics: Metrics) -> None:
    record = {"messageId": "copy", "eventSource": "aws:sqs", "body": copies.to_message(a_copy())}
    assert world.invoke("webhook_retry", {"Records": [record]}) == {"batchItemFailures": []}
    assert metrics() == {"WebhookCopiesLost"}
    assert keys(s3) == []


def test_a_webhook_that_is_padded_to_a_large_one_is_recorded_counted_and_not_copied(
    world: World, dual_write: Any, metrics: Metrics
) -> None:
    padded = json.dumps(payload(QUEUED) | {"padding": "x" * copies.LARGEST_COPY}).encode()
    assert world.invoke("webhook_intake", http_event(padded))["statusCode"] == 202
    assert "WebhookCopiesLost" in metrics()
    assert (keys(dual_write), world.deferred()) == ([], [])


def test_the_largest_copy_fits_into_a_message_of_sqs() -> None:
    body = random.Random(1).randbytes(copies.LARGEST_COPY)  # noqa: S311 - it can't be compressed
    assert len(copies.to_message(replace(a_copy(), body=body))) < 1_000_000


def test_a_replay_under_another_delivery_id_changes_no_object(world: World, dual_write: Any) -> None:
    deliver(world, guid="genuine")
    (before,) = dual_write.list_objects_v2(Bucket=BUCKET)["Contents"]
    assert json.loads(deliver(world, guid="replayed")["body"]) == {"result": "duplicate"}
    assert dual_write.get_object(Bucket=BUCKET, Key=KEY)["Metadata"]["delivery-id"] == "genuine"
    assert dual_write.list_objects_v2(Bucket=BUCKET)["Contents"] == [before]


@pytest.mark.parametrize("after", ["s3 recovered", "s3 is still unavailable"])
def test_a_redelivery_puts_an_object_that_is_missing(
    world: World, dual_write: Any, monkeypatch: pytest.MonkeyPatch, after: str
) -> None:
    deliver(world)
    dual_write.delete_object(Bucket=BUCKET, Key=KEY)
    with monkeypatch.context() as trouble:
        if after == "s3 is still unavailable":
            trouble.setattr(clients.client("s3"), "put_object", unreachable)
        deliver(world)
    waiting = world.deferred()
    assert bool(waiting) == (after == "s3 is still unavailable")
    if waiting:
        assert world.invoke("webhook_retry", {"Records": waiting * 2}) == {"batchItemFailures": []}
    assert keys(dual_write) == [KEY]


def test_replays_make_no_objects_of_their_own(world: World, dual_write: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEBHOOK_KEY_PATTERN", "webhooks/{installation_id}/{job_id}/{delivery_id}")
    for number in range(5):
        deliver(world, guid=f"guid-{number}")
    assert keys(dual_write) == [f"webhooks/{INSTALLATION}/{JOB}/guid-0"]


def test_a_message_unpacks_to_no_more_than_a_webhook_can_have() -> None:
    message = copies.to_message(replace(a_copy(), body=bytes(LARGEST_BODY + 1)))
    with pytest.raises(Malformed, match="the limit is"):
        copies.from_message(message)


@pytest.mark.usefixtures("dual_write")
def test_the_copy_is_lost_but_not_the_webhook_if_the_queue_is_unavailable_too(
    world: World, metrics: Metrics, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clients.client("s3"), "put_object", unreachable)
    monkeypatch.setattr(clients.client("sqs"), "send_message", unreachable)
    assert deliver(world)["statusCode"] == 202
    assert "WebhookCopiesLost" in metrics()


def test_the_message_of_a_copy_has_a_version_that_older_functions_leave_in_the_queue() -> None:
    message = copies.to_message(a_copy())
    assert copies.from_message(message) == a_copy()
    again = replace(a_copy(), if_absent=True)
    assert copies.from_message(copies.to_message(again)) == again
    assert retry_queue.is_copy(message)
    assert not retry_queue.is_copy(retry_queue.to_message(receipt(QUEUED)))
    with pytest.raises(NewerMessage, match="version 2"):
        retry_queue.from_message(message)


@pytest.mark.parametrize(
    ("name", "value"),
    [("key", None), ("key", ["a list"]), ("delivery_id", 1), ("body", None), ("body", "bm8gZ3ppcA=="), ("body", "é")],
)
def test_a_malformed_copy_is_rejected_before_it_is_put(name: str, value: object) -> None:
    message = json.loads(copies.to_message(a_copy()))
    message["copy"][name] = value
    with pytest.raises(Malformed, match=name):
        copies.from_message(json.dumps(message))


def a_copy() -> WebhookCopy:
    return WebhookCopy(key=KEY, body=b'{"a": 1}', delivery_id="guid", received_at="2025-01-15T10:00:00.123Z")


def test_a_waiting_webhook_has_a_key_of_its_own(world: World, dual_write: Any) -> None:
    for step in (QUEUED, WAITING, IN_PROGRESS, COMPLETED):
        deliver(world, step)
    folder = f"webhooks/{INSTALLATION}/{JOB}"
    assert keys(dual_write) == [f"{folder}/{step}.json" for step in sorted((QUEUED, WAITING, IN_PROGRESS, COMPLETED))]
