"""Queued work carries the correlation id of the input that caused it, so one saved query finds the whole story."""

import io
import json
from typing import Any

import pytest
from botocore.exceptions import EndpointConnectionError
from runledger.model.follow_ups import RerunCheck
from runledger.recording import follow_up_queue
from runledger.webhooks import retry_queue

from tests.functions.conftest import World
from tests.support import messages, runner_events
from tests.support.log_lines import lines
from tests.support.messages import Message
from tests.support.reconciler_scene import Scene
from tests.support.runner_events import INSTANCE, batch
from tests.support.webhooks import COMPLETED, IN_PROGRESS, INSTALLATION, QUEUED, REPO, RUN, http_event, payload, receipt


@pytest.fixture
def without_app(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setenv("GITHUB_APP", world.secrets.create_secret(Name="app", SecretString="{}")["ARN"])
    return world


def deliver(world: World, message: Message, *, guid: str) -> None:
    event, body = message
    response = world.invoke("webhook_intake", http_event(json.dumps(body).encode(), guid=guid, event=event))
    assert response["statusCode"] == 202


def correlation_ids(text: str, message: str) -> list[str]:
    return [line["correlation_id"] for line in lines(text) if line["message"] == message]


def record_of(body: str) -> dict[str, Any]:
    return {"Records": [{"messageId": "m", "eventSource": "aws:sqs", "body": body}]}


def test_a_lookup_continues_the_webhook_that_named_the_runner(scene: Scene, capsys: pytest.CaptureFixture[str]) -> None:
    instance_id = scene.start_instance()
    started = payload(IN_PROGRESS, runner_name=f"runner-{instance_id}")
    deliver(scene.world, ("workflow_job", started), guid="the start")
    capsys.readouterr()
    scene.world.invoke("runner_lookup", {"Records": scene.world.waiting("lookups")})
    assert correlation_ids(capsys.readouterr().out, "job event") == ["the start"]


def test_a_rerun_check_continues_the_webhook_that_ended_the_run(without_app: World, log: io.StringIO) -> None:
    world = without_app
    deliver(world, ("workflow_job", payload(QUEUED)), guid="queued")
    world.invoke("scheduling_events", batch(runner_events.launcher("runner_scheduled", runner_id=INSTANCE)))
    world.invoke("spot_interruption", batch(runner_events.interruption()))
    deliver(world, ("workflow_job", payload(COMPLETED, conclusion="failure")), guid="the job's end")
    deliver(world, messages.run("completed"), guid="the run's end")
    world.invoke("run_retry", {"Records": world.waiting("reruns")})
    assert correlation_ids(log.getvalue(), "re-run considered") == ["the run's end"]


def test_a_requested_pass_continues_the_request_of_the_api(scene: Scene, capsys: pytest.CaptureFixture[str]) -> None:
    scene.reconcile(correlation_id="the request")
    assert correlation_ids(capsys.readouterr().out, "reconciliation") == ["the request"]


def test_a_retried_report_continues_its_webhook(
    world: World, log: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    intake = world.start("webhook_intake")
    with monkeypatch.context() as broken:
        broken.setattr(intake.intake.ledger.runs._table.client, "update_item", unreachable)
        deliver(world, messages.run("completed"), guid="the run's end")
    world.invoke("webhook_retry", {"Records": world.deferred()})
    assert correlation_ids(log.getvalue(), "report") == ["the run's end"]


def unreachable(**_: object) -> None:
    raise EndpointConnectionError(endpoint_url="https://dynamodb.invalid")


def test_messages_of_earlier_releases_are_followed_by_what_they_name(
    without_app: World, log: io.StringIO, capsys: pytest.CaptureFixture[str]
) -> None:
    check = RerunCheck(installation_id=INSTALLATION, repo_full_name=REPO, run_id=RUN, run_attempt=1)
    without_app.invoke("run_retry", record_of(follow_up_queue.to_message(check)))
    assert correlation_ids(log.getvalue(), "re-run considered") == ["m"]
    without_app.invoke("webhook_retry", record_of(retry_queue.to_message(receipt(COMPLETED, guid="its delivery"))))
    assert correlation_ids(capsys.readouterr().out, "job event") == ["its delivery"]
