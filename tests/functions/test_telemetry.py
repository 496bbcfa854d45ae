"""The log: one correlation id through every function, a metric for each event, and never a secret."""

import io
import json

import pytest
from runledger.model import times
from runledger.webhooks.retry_queue import to_message

from tests.functions.conftest import World
from tests.support.log_lines import lines, metrics, written
from tests.support.runner_events import INSTANCE, batch, instance_state, launcher
from tests.support.webhooks import COMPLETED, IN_PROGRESS, QUEUED, SECRET, WAITING, http_event, payload, receipt, sign


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        (QUEUED, {"JobsQueued": 1}),
        (WAITING, {"JobsWaiting": 1}),
        (IN_PROGRESS, {"JobsStarted": 1}),
        (COMPLETED, {"JobsCompleted": 1, "JobsFailed": 0, "QueueTime": 150_000, "JobDuration": 615}),
    ],
)
def test_each_job_event_is_a_metric(
    world: World, capsys: pytest.CaptureFixture[str], step: str, expected: dict[str, float]
) -> None:
    world.invoke("webhook_intake", http_event(json.dumps(payload(step)).encode()))
    assert metrics(written(capsys)) == expected


def test_a_job_that_a_partial_rerun_carried_over_is_in_no_metric(
    world: World, log: io.StringIO, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = payload(COMPLETED, run_attempt=2, created_at="2025-01-15T11:00:00Z", conclusion="failure")
    world.invoke("webhook_intake", http_event(json.dumps(copy).encode()))
    assert metrics(lines(capsys.readouterr().out)) == {}
    assert [line["message"] for line in lines(log.getvalue())] == ["job event"]


def test_the_duration_of_a_job_ends_with_the_job_and_not_with_its_machine(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    world.invoke("scheduling_events", batch(launcher("runner_scheduled")))
    world.invoke(
        "webhook_intake", http_event(json.dumps(payload(IN_PROGRESS, runner_name=INSTANCE)).encode(), guid="started")
    )
    world.invoke("instance_state", batch(instance_state("terminated", minute=5)))
    capsys.readouterr()
    world.invoke(
        "webhook_intake", http_event(json.dumps(payload(COMPLETED, runner_name=INSTANCE)).encode(), guid="completed")
    )
    (line,) = [each for each in lines(capsys.readouterr().out) if each.get("event_type") == "webhook_completed"]
    assert (line["usage_in_seconds"], line["JobDuration"]) == (150, 615)


def test_a_duplicate_is_counted_and_our_own_retry_is_not(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    event = http_event(json.dumps(payload(QUEUED)).encode())
    world.invoke("webhook_intake", event)
    capsys.readouterr()
    world.invoke("webhook_intake", event)
    assert metrics(written(capsys)) == {}
    world.invoke("webhook_intake", http_event(event["body"].encode(), at_epoch_ms=1_736_938_800_000))
    assert metrics(written(capsys)) == {"DuplicateDeliveries": 1}


def test_the_delivery_follows_the_job_through_both_functions(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    world.invoke("webhook_intake", http_event(json.dumps(payload(QUEUED)).encode(), guid="first"))
    message = {"messageId": "m", "eventSource": "aws:sqs", "body": to_message(receipt(COMPLETED, guid="second"))}
    world.invoke("webhook_retry", {"Records": [message]})
    logged = [line for line in written(capsys) if line["message"] == "job event"]
    assert [line["correlation_id"] for line in logged] == ["first", "second"]


def test_every_line_has_its_time_in_the_same_form(
    world: World, log: io.StringIO, capsys: pytest.CaptureFixture[str]
) -> None:
    event = http_event(json.dumps(payload(QUEUED)).encode())
    world.invoke("webhook_intake", event)  # counted
    world.invoke("webhook_intake", event)  # logged
    for line in (*lines(log.getvalue()), *written(capsys)):
        assert times.normalised(line["timestamp"]) == line["timestamp"]
    assert log.getvalue()


def test_no_secret_signature_or_body_is_logged(
    world: World, log: io.StringIO, capsys: pytest.CaptureFixture[str]
) -> None:
    sent = json.dumps(payload(QUEUED)).encode()
    for event in (
        http_event(sent),
        http_event(sent, signature="sha256=wrong"),
        http_event(b"{", signature=sign(b"{")),
    ):
        world.invoke("webhook_intake", event)
    output = log.getvalue() + capsys.readouterr().out
    assert output.count("delivery rejected") == 2
    for secret in (SECRET, sign(sent), "sha256=wrong", "node_id"):
        assert secret not in output
