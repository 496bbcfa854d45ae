"""The responses to GitHub, and what is recorded."""

import base64
import json
from typing import Any

import pytest
from botocore.exceptions import ClientError, ReadTimeoutError

from tests.functions.conftest import World
from tests.support import memory
from tests.support.beds import dump, items
from tests.support.ledgers import EVENTS, JOBS, RUNS
from tests.support.webhooks import COMPLETED, QUEUED, http_event, payload, sign


def body(message: object) -> bytes:
    return json.dumps(message).encode()


def is_empty(world: World) -> bool:
    return not any(dump(world.dynamodb).values()) and not world.deferred()


def detail(response: dict[str, Any]) -> str:
    assert response["headers"]["content-type"] == "application/problem+json"
    return str(json.loads(response["body"])["detail"])


def test_a_signed_delivery_is_recorded_and_gets_202(world: World) -> None:
    response = world.invoke("webhook_intake", http_event(body(payload(QUEUED))))
    assert (response["statusCode"], json.loads(response["body"])) == (202, {"result": "recorded"})
    (job, *_registered), (line,) = items(world.dynamodb, JOBS), items(world.dynamodb, EVENTS)
    assert (job["status"], job["received_at"]) == ("queued", "2025-01-15T10:00:00.123Z")
    assert line["delivery_id"] == "72d3162e-cc78-11e3-81ab-4c9367dc0958"


def test_a_redelivery_gets_202_and_the_result_duplicate(world: World) -> None:
    world.invoke("webhook_intake", http_event(body(payload(QUEUED))))
    response = world.invoke("webhook_intake", http_event(body(payload(QUEUED)), at_epoch_ms=1_736_938_800_000))
    assert (response["statusCode"], json.loads(response["body"])) == (202, {"result": "duplicate"})


def test_a_base64_encoded_body_is_taken(world: World) -> None:
    event = http_event(body(payload(QUEUED)))
    event |= {"body": base64.b64encode(event["body"].encode()).decode(), "isBase64Encoded": True}
    assert world.invoke("webhook_intake", event)["statusCode"] == 202


@pytest.mark.parametrize(
    "signature", [None, "", "sha256=", "sha1=abc", "right but not really", "sha256=" + "0" * 64, "sha256=\u00e9\ud800"]
)
def test_a_delivery_without_a_valid_signature_is_rejected(world: World, signature: str | None) -> None:
    response = world.invoke("webhook_intake", http_event(body(payload(QUEUED)), signature=signature))
    assert response["statusCode"] == 401
    assert is_empty(world)


def test_a_signature_of_another_body_is_refused(world: World) -> None:
    event = http_event(body(payload(QUEUED)), signature=sign(body(payload(COMPLETED))))
    assert world.invoke("webhook_intake", event)["statusCode"] == 401


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        (b"{", "body is not JSON"),
        (b"payload=%7B%7D", "content type must be application/json"),
        (b"[]", "body must be a JSON object"),
        (b'{"action": "queued"}', "workflow_job is missing"),
        (b'{"action": "queued", "workflow_job": {"id": "x"}}', "workflow_job.id must be a whole number"),
    ],
)
def test_a_malformed_delivery_is_400_with_the_field_and_changes_nothing(
    world: World, sent: bytes, expected: str
) -> None:
    response = world.invoke("webhook_intake", http_event(sent))
    assert response["statusCode"] == 400
    assert expected in detail(response)
    assert is_empty(world)


@pytest.mark.parametrize(("name", "header"), [("event", "X-GitHub-Event"), ("guid", "X-GitHub-Delivery")])
def test_a_missing_header_is_400_with_its_name(world: World, name: str, header: str) -> None:
    response = world.invoke("webhook_intake", http_event(body(payload(QUEUED)), **{name: None}))  # type: ignore[arg-type]
    assert (response["statusCode"], detail(response).split()[0]) == (400, header)


@pytest.mark.parametrize("guid", ["\ud800", "a\nb", "x" * 101])
def test_a_delivery_id_that_cannot_be_stored_is_400(world: World, guid: str) -> None:
    response = world.invoke("webhook_intake", http_event(body(payload(QUEUED)), guid=guid))
    assert (response["statusCode"], detail(response).split()[0]) == (400, "X-GitHub-Delivery")
    assert is_empty(world)


def test_over_five_megabytes_is_413_before_anything_else(world: World) -> None:
    response = world.invoke("webhook_intake", http_event(b" " * 5_000_001, signature=None))
    assert response["statusCode"] == 413
    assert is_empty(world)


@pytest.mark.parametrize(
    ("event", "message"),
    [
        ("ping", {"zen": "Keep it logically awesome."}),
        ("star", {}),
        ("workflow_job", payload(QUEUED) | {"action": "x"}),
    ],
)
def test_an_unused_event_is_200_and_stores_nothing(world: World, event: str, message: object) -> None:
    assert world.invoke("webhook_intake", http_event(body(message), event=event))["statusCode"] == 200
    assert is_empty(world)


def test_every_active_secret_is_valid_and_a_new_one_works_without_a_deployment(world: World) -> None:
    now = 0.0
    world.start("webhook_intake").intake.secrets._clock = lambda: now
    sent = body(payload(QUEUED))
    assert world.invoke("webhook_intake", http_event(sent))["statusCode"] == 202
    by_new = http_event(sent, signature=sign(sent, "new"))
    assert world.invoke("webhook_intake", by_new)["statusCode"] == 401
    world.secrets.put_secret_value(SecretId=world.secret_arn, SecretString='{"current": "new", "previous": "old"}')
    now = 11.0
    assert world.invoke("webhook_intake", by_new)["statusCode"] == 202
    assert world.invoke("webhook_intake", http_event(sent, signature=sign(sent, "old")))["statusCode"] == 202
    now = 320.0
    assert world.invoke("webhook_intake", http_event(sent))["statusCode"] == 401


TROUBLE = [
    ClientError({"Error": {"Code": "ProvisionedThroughputExceededException", "Message": "slow down"}}, "PutItem"),
    ClientError({"Error": {"Code": "ThrottlingException", "Message": "slow down"}}, "PutItem"),
    ReadTimeoutError(endpoint_url="https://dynamodb"),
]


@pytest.mark.parametrize("trouble", TROUBLE, ids=lambda trouble: type(trouble).__name__)
def test_a_transient_error_is_202_and_the_retry_records_the_same(
    world: World, trouble: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    event = http_event(body(payload(COMPLETED)))
    intake = world.start("webhook_intake")
    with monkeypatch.context() as broken:
        broken.setattr(intake.intake.ledger.events._table.client, "put_item", _raise(trouble))
        response = intake.handler(event, object())
    assert (response["statusCode"], json.loads(response["body"])) == (202, {"result": "deferred"})
    records = [{**message, "eventSource": "aws:sqs"} for message in world.deferred()]
    assert world.invoke("webhook_retry", {"Records": records}) == {"batchItemFailures": []}
    retried = dump(world.dynamodb)
    assert [job["status"] for job in retried[JOBS] if job["SK"] == "v"] == ["completed"]
    assert json.loads(world.invoke("webhook_intake", event)["body"]) == {"result": "repeated"}
    assert dump(world.dynamodb) == retried


@pytest.mark.parametrize("table", [JOBS, EVENTS, RUNS])
def test_a_delivery_waits_while_a_table_is_missing(world: World, table: str) -> None:
    """It was deleted, and an operator restores it."""
    event = http_event(body(payload(COMPLETED)))
    tables = memory.engine().storage.tables
    missing = tables.pop(table)
    assert json.loads(world.invoke("webhook_intake", event)["body"]) == {"result": "deferred"}
    records = [{**message, "eventSource": "aws:sqs"} for message in world.deferred()]
    assert len(world.invoke("webhook_retry", {"Records": records})["batchItemFailures"]) == 1
    tables[table] = missing
    assert world.invoke("webhook_retry", {"Records": records}) == {"batchItemFailures": []}
    found = dump(world.dynamodb)
    assert [job["status"] for job in found[JOBS] if job["SK"] == "v"] == ["completed"]
    assert [run["completed_jobs"] for run in found[RUNS]] == [1]


def test_when_the_queue_fails_too_it_is_500_so_that_the_redeliverer_finds_it(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    intake = world.start("webhook_intake")
    monkeypatch.setattr(intake.intake.ledger.events._table.client, "put_item", _raise(TROUBLE[0]))
    monkeypatch.setattr(intake.intake.retries._client, "send_message", _raise(TROUBLE[1]))
    assert intake.handler(http_event(body(payload(QUEUED))), object())["statusCode"] == 500


def test_cached_secrets_are_used_while_secrets_manager_is_unavailable(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    intake = world.start("webhook_intake")
    intake.intake.secrets._clock = lambda: now
    assert intake.handler(http_event(body(payload(QUEUED))), object())["statusCode"] == 202
    now = 3600.0
    monkeypatch.setattr(intake.intake.secrets._client, "get_secret_value", _raise(TROUBLE[1]))
    assert intake.handler(http_event(body(payload(COMPLETED))), object())["statusCode"] == 202


def _raise(trouble: Exception) -> Any:
    def raising(**_: object) -> None:
        raise trouble

    return raising
