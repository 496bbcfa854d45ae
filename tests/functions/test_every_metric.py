"""Every metric comes from a real flow through the functions: a metric that nothing emits keeps its alarm silent."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import EndpointConnectionError
from runledger.feeds import queue
from runledger.migration import key_pattern
from runledger.migration.runner_configs import config_key
from runledger.platform import clients, emf

from tests.feeds.streams import some_events
from tests.functions.conftest import BUCKET, ROLE
from tests.functions.test_emitted_metrics import emitted
from tests.notifications.moto_scene import MotoNotifications
from tests.support import messages
from tests.support.messages import Message
from tests.support.reconciler_scene import Scene, outlived, queued
from tests.support.runner_events import INSTANCE, batch, instance_state, interruption, launcher, rebalance
from tests.support.webhooks import (
    COMPLETED,
    DEPLOYMENT,
    IN_PROGRESS,
    JOB,
    QUEUED,
    REPO,
    RUN,
    SECRET,
    WAITING,
    http_event,
    payload,
)

Flow = Callable[[Scene, pytest.MonkeyPatch], None]
FLOWS: dict[Flow, set[str]] = {}


def emits(*names: str) -> Callable[[Flow], Flow]:
    def add(flow: Flow) -> Flow:
        FLOWS[flow] = set(names)
        return flow

    return add


def deliver(scene: Scene, message: Message, *, guid: str) -> int:
    event, body = message
    response = scene.world.invoke("webhook_intake", http_event(json.dumps(body).encode(), guid=guid, event=event))
    return int(response["statusCode"])


def deliver_job(scene: Scene, step: str, *, guid: str | None = None, **changes: Any) -> int:
    return deliver(scene, ("workflow_job", payload(step, **changes)), guid=guid or step)


def unreachable(*_: object, **__: object) -> None:
    raise EndpointConnectionError(endpoint_url="https://aws.invalid")


@emits("JobsQueued", "JobsStarted", "JobsCompleted", "JobsFailed", "QueueTime", "JobDuration", "DuplicateDeliveries")
def life_of_a_job(scene: Scene, _: pytest.MonkeyPatch) -> None:
    for step in (QUEUED, IN_PROGRESS, COMPLETED):
        deliver_job(scene, step)
    deliver_job(scene, QUEUED, guid="of another hook")


@emits("JobsWaiting", "ApprovalsRequested", "ApprovalsGiven")
def approval(scene: Scene, _: pytest.MonkeyPatch) -> None:
    deployment = {"deployment": {"id": DEPLOYMENT, "environment": messages.ENVIRONMENT}}
    deliver(scene, ("workflow_job", payload(WAITING) | deployment), guid="waiting")
    deliver(scene, messages.review("requested"), guid="requested")
    deliver(scene, messages.review("approved"), guid="approved")


@emits("ApprovalsRefused")
def rejection_before_the_job(scene: Scene, _: pytest.MonkeyPatch) -> None:
    deliver(scene, messages.review("rejected"), guid="rejected")
    deployment = {"deployment": {"id": DEPLOYMENT, "environment": messages.ENVIRONMENT}}
    deliver(scene, ("workflow_job", payload(WAITING) | deployment), guid="waiting")


@emits(
    *("RunnersScheduled", "RunnersRescheduled", "RunnersAttached", "RebalanceRecommendations"),
    *("RunnersInterrupted", "RunnersTerminated", "Spend", "SpotSavings", "InternalQueueTime"),
)
def life_of_a_runner(scene: Scene, _: pytest.MonkeyPatch) -> None:
    deliver_job(scene, QUEUED)
    prices: dict[str, Any] = {"price_per_hour": 0.02, "on_demand_price_per_hour": 0.05}
    scene.world.invoke("scheduling_events", batch(launcher("runner_scheduled", runner_id="i-0fedcba9876543210")))
    scene.world.invoke("scheduling_events", batch(launcher("runner_rescheduled", minute=2, **prices)))
    scene.world.invoke("instance_state", batch(instance_state("running", minute=3)))
    deliver_job(scene, IN_PROGRESS, runner_name=f"runner-{INSTANCE}")
    scene.world.invoke("spot_interruption", batch(rebalance(), interruption()))
    scene.world.invoke("instance_state", batch(instance_state("terminated", minute=6)))
    deliver_job(scene, COMPLETED, conclusion="failure")


@emits("RunnersTaken")
def runner_that_takes_another_job(scene: Scene, _: pytest.MonkeyPatch) -> None:
    instance_id = scene.start_instance()
    for job_id in (1, 2):
        deliver_job(scene, QUEUED, guid=f"queued {job_id}", job_id=job_id)
    scene.world.invoke("scheduling_events", batch(launcher("runner_scheduled", job_id=1, runner_id=instance_id)))
    deliver_job(scene, IN_PROGRESS, job_id=2, runner_name=f"runner-{instance_id}")
    scene.world.invoke("runner_lookup", {"Records": scene.world.waiting("lookups")})


@emits("LookupsPostponed")
def lookup_without_ec2(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    deliver_job(scene, IN_PROGRESS, runner_name=f"runner-{INSTANCE}")
    for ec2 in (clients.client("ec2"), clients.client("ec2", "us-east-1")):
        monkeypatch.setattr(ec2, "get_paginator", unreachable)
        monkeypatch.setattr(ec2, "describe_instances", unreachable)
    scene.world.invoke("runner_lookup", {"Records": scene.world.waiting("lookups")})


def end_interrupted_run(scene: Scene, conclusion: str) -> None:
    deliver_job(scene, QUEUED)
    scene.world.invoke("scheduling_events", batch(launcher("runner_scheduled")))
    scene.world.invoke("spot_interruption", batch(interruption()))
    deliver_job(scene, COMPLETED, conclusion="failure")
    deliver(scene, messages.run("completed"), guid="the run's end")
    scene.github.state.put("runs", RUN, repository=REPO, status="completed", conclusion=conclusion)
    scene.on_github(JOB, "completed", conclusion="failure")
    scene.world.invoke("run_retry", {"Records": scene.world.waiting("reruns")})


@emits("RerunsRequested")
def interrupted_run(scene: Scene, _: pytest.MonkeyPatch) -> None:
    end_interrupted_run(scene, "failure")


@emits("RerunsRefused")
def cancelled_run(scene: Scene, _: pytest.MonkeyPatch) -> None:
    end_interrupted_run(scene, "cancelled")


@emits("DeferredDeliveries")
def webhook_without_dynamodb(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    intake = scene.world.start("webhook_intake")
    monkeypatch.setattr(intake.intake.ledger.events._table.client, "put_item", unreachable)
    deliver_job(scene, QUEUED)


@emits("WebhookCopiesDeferred", "WebhookCopiesLost")
def webhooks_without_s3(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    copy_webhooks(monkeypatch, "dual_write")
    deliver_job(scene, QUEUED)
    monkeypatch.setattr(clients.client("sqs"), "send_message", unreachable)
    deliver_job(scene, QUEUED, guid="another", job_id=2)


@emits("RunnerConfigsRejected")
def runner_configs_in_a_bucket_that_is_gone(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    copy_webhooks(monkeypatch, "dynamodb_first")
    monkeypatch.setenv("RUNNER_CONFIG_BUCKET", "not-there")
    monkeypatch.setenv("RUNNER_ROLE_IDS", ROLE)
    deliver_job(scene, IN_PROGRESS, runner_name=f"runner-{scene.start_instance()}")
    scene.world.invoke("runner_lookup", {"Records": scene.world.waiting("lookups")})


@emits("SchedulingHits", "SchedulingFallbacks", "SchedulingMisses")
def runner_configs(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    copy_webhooks(monkeypatch, "dynamodb_first")
    monkeypatch.setenv("RUNNER_CONFIG_BUCKET", BUCKET)
    monkeypatch.setenv("RUNNER_ROLE_IDS", ROLE)
    s3 = scene.world.client("s3")
    s3.create_bucket(Bucket=BUCKET)
    machines = [scene.start_instance() for _ in range(3)]
    s3.put_object(Bucket=BUCKET, Key=config_key(ROLE, machines[0]), Body=b"{}")
    scene.world.invoke("scheduling_events", batch(launcher("runner_scheduled", job_id=3, runner_id=machines[2])))
    for job_id, machine in enumerate(machines, start=1):
        deliver_job(scene, IN_PROGRESS, guid=machine, job_id=job_id, runner_name=f"runner-{machine}")
    scene.world.invoke("runner_lookup", {"Records": scene.world.waiting("lookups")})


def copy_webhooks(monkeypatch: pytest.MonkeyPatch, phase: str) -> None:
    """Into a bucket that doesn't exist."""
    settings = {"STORAGE_PHASE": phase, "WEBHOOK_BUCKET": "not-there", "WEBHOOK_KEY_PATTERN": key_pattern.DEFAULT}
    for name, value in settings.items():
        monkeypatch.setenv(name, value)


@emits("RejectedEvents", "MessagesFailed")
def invalid_event(scene: Scene, _: pytest.MonkeyPatch) -> None:
    scene.world.invoke("scheduling_events", batch(launcher("runner_scheduled", job_id="none")))  # type: ignore[arg-type]


@emits("DeliveriesOutOfScope", "InvalidWebhookSecrets")
def secrets_with_limits(scene: Scene, _: pytest.MonkeyPatch) -> None:
    secrets = {"current": {"secret": SECRET, "repositories": ["another/one"]}, "unusable": 1}
    scene.world.secrets.put_secret_value(SecretId=scene.world.secret_arn, SecretString=json.dumps(secrets))
    deliver_job(scene, QUEUED)


@emits("DeliveriesFromOtherHosts")
def delivery_of_an_enterprise_server(scene: Scene, _: pytest.MonkeyPatch) -> None:
    body = json.dumps(payload(QUEUED)).encode()
    scene.world.invoke("webhook_intake", http_event(body, guid="other", host="github.example.com"))


@emits(
    *("RunnersRequested", "JobsReconciled", "StuckJobs", "JobsHealed", "LongRunningJobs", "ForgottenApprovals"),
    *("WebhooksRedelivered", "ReconciliationErrors", "ReconciliationDuration", "PassesSucceeded", "PassesFailed"),
    *("OrphanedRunnersDetected", "OrphanedRunnersCleaned", "OrphanedRunnersOverdue", "ContestedRunners"),
)
def reconciliation(scene: Scene, _: pytest.MonkeyPatch) -> None:
    queued(scene, 1)
    scene.receive(QUEUED, 2)
    scene.on_github(2, "completed", conclusion="success")
    scene.reconcile()


@emits("OrphanedRunnerRate", "CleanupLatency")
def orphan(scene: Scene, _: pytest.MonkeyPatch) -> None:
    outlived(scene)
    scene.reconcile()
    scene.reconcile()


@emits("FeedEventsWritten", "FeedEventsRepeated")
def feed(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"FEED_TABLE": "feed", "FEED_RETENTION_DAYS": "30", "FEED_BUCKET": "b"}.items():
        monkeypatch.setenv(name, value)
    body = next(queue.bodies(some_events(2)))
    record = {"messageId": "m1", "body": body, "eventSource": "aws:sqs", "attributes": {"MessageGroupId": "7"}}
    assert scene.world.invoke("feed_writer", {"Records": [record]}) == {"batchItemFailures": []}


@emits(
    *("NotificationsCreated", "NotificationsSuppressed", "NotificationsCompleted", "NotificationsRetried"),
    *("NotificationsFailed", "NotificationLatency", "OldestNotification"),
)
def notifications(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    deployed = MotoNotifications(scene.world, monkeypatch)
    deployed.route(1, 2)
    deployed.send()
    deployed.tick()


@pytest.mark.parametrize("flow", FLOWS, ids=lambda flow: flow.__name__)
def test_a_flow_emits_its_metrics(
    scene: Scene, flow: Flow, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("runledger.platform.logs.FUNCTION", "a_function")
    flow(scene, monkeypatch)
    assert FLOWS[flow] - {name for name, _ in emitted(capsys.readouterr().out)} == set()


def test_every_metric_belongs_to_a_flow() -> None:
    assert set().union(*FLOWS.values()) == emf.UNITS.keys()
