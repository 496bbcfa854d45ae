"""Webhooks that never arrived are found in GitHub's delivery log, and are redelivered."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from runledger.model.errors import NoResponseError
from runledger.model.reports import WEBHOOK_PATH
from runledger.reconciliation import deliveries
from runledger.reconciliation.deliveries import PAUSE_GROWTH, PAUSE_SECONDS, REDELIVERED_AT_MOST
from runledger_github.app import DeliveryPage, GitHubApp

from tests.local.webhook_receiver import WebhookReceiver
from tests.support.beds import items
from tests.support.ledgers import RUNNERS
from tests.support.reconciler_scene import Scene, ago, lose


def redeliveries(scene: Scene) -> int:
    return scene.calls("attempts")


def test_a_webhook_that_never_arrived_is_redelivered_once_a_pause(scene: Scene) -> None:
    lose(scene, "lost")
    response = scene.reconcile()
    assert (response["summary"]["webhooks_lost"], response["summary"]["webhooks_redelivered"]) == (1, 1)
    assert "delivery lost (workflow_job)" in response["text"]
    assert scene.reconcile()["summary"]["webhooks_redelivered"] == 0
    assert redeliveries(scene) == 1


def test_a_delivery_that_arrived_meanwhile_is_no_longer_lost(scene: Scene) -> None:
    lose(scene, "lost")
    with WebhookReceiver() as receiver:
        scene.github.state.configure(webhook_url=receiver.url + WEBHOOK_PATH)
        scene.reconcile()
        scene.github.courier.settle()
    assert [each.headers["x-github-delivery"] for each in receiver.received] == ["lost"]
    assert scene.reconcile()["summary"]["webhooks_lost"] == 0


def dated(scene: Scene, **changes: Any) -> None:
    """Changes the newest row of the log."""
    log = scene.github.state.deliveries
    log[-1] = replace(log[-1], **changes)


def lost_guids(scene: Scene) -> set[str]:
    return {item["SK"] for item in items(scene.world.dynamodb, RUNNERS) if item["PK"] == "lost_deliveries"}


def test_only_what_is_new_in_the_log_is_read_with_an_overlap(scene: Scene) -> None:
    for number in range(150):
        lose(scene, f"old {number}")
        dated(scene, delivered_at=ago(hours=2))
    for number in range(10):
        lose(scene, f"lost {number}")
    scene.github.state.add_fault(kind="error", path="*/attempts", times=None)
    assert scene.reconcile()["summary"]["deliveries_read"] == 160
    assert scene.reconcile()["summary"]["deliveries_read"] == 10


def test_a_row_that_appears_late_and_with_a_lower_id_is_read(scene: Scene) -> None:
    lose(scene, "first")
    scene.reconcile()
    lose(scene, "late")
    dated(scene, id=1, delivered_at=ago(minutes=5))
    assert scene.reconcile()["summary"]["webhooks_redelivered"] == 1
    assert lost_guids(scene) == {"first", "late"}


def test_one_page_out_of_order_does_not_end_the_reading(scene: Scene) -> None:
    """Rows of one page are older than what was read before; later pages hold newer ones."""
    lose(scene, "read")
    scene.reconcile()
    for number in range(3):
        lose(scene, f"new {number}")
    for number in range(99):
        lose(scene, f"old {number}")
        dated(scene, delivered_at=ago(hours=5))
    lose(scene, "newest")
    scene.reconcile()
    assert {"new 0", "new 1", "new 2", "newest"} <= lost_guids(scene)


def test_an_old_row_above_a_new_one_does_not_hide_it(scene: Scene) -> None:
    lose(scene, "read")
    scene.reconcile()
    lose(scene, "new")
    lose(scene, "old")
    dated(scene, delivered_at=ago(hours=5))
    scene.reconcile()
    assert lost_guids(scene) == {"read", "new"}


def test_the_newest_failure_of_a_delivery_is_redelivered_whatever_its_id(scene: Scene) -> None:
    lose(scene, "lost")
    dated(scene, id=7002, delivered_at=ago(minutes=9))
    lose(scene, "lost")
    dated(scene, id=7001, delivered_at=ago(minutes=5))
    assert scene.reconcile()["summary"]["webhooks_redelivered"] == 1
    (stored,) = [item for item in items(scene.world.dynamodb, RUNNERS) if item["PK"] == "lost_deliveries"]
    assert stored["delivery_id"] == 7001


def test_a_cursor_that_github_refuses_is_dropped(scene: Scene) -> None:
    lose(scene, "lost")
    cursor = {"PK": {"S": "delivery_log"}, "SK": {"S": "v"}, "cursor": {"S": "of-last-year"}}
    scene.world.dynamodb.put_item(TableName=RUNNERS, Item=cursor)
    response = scene.reconcile()
    assert (response["summary"]["webhooks_redelivered"], response["summary"]["errors"]) == (1, 0)
    (log,) = [item for item in items(scene.world.dynamodb, RUNNERS) if item["PK"] == "delivery_log"]
    assert "cursor" not in log


def test_reading_the_log_continues_where_github_interrupted_it(scene: Scene) -> None:
    for number in range(150):
        lose(scene, f"lost {number}")
    scene.github.state.add_fault(kind="error", status=503, path="*/attempts", times=None)
    real = GitHubApp.hook_deliveries

    def interrupted(self: GitHubApp, cursor: str | None = None) -> Iterator[DeliveryPage]:
        for page in real(self, cursor):
            yield page
            raise NoResponseError("GET /app/hook/deliveries: 503", repeatable=True)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(GitHubApp, "hook_deliveries", interrupted)
        scene.reconcile()
    assert len(lost_guids(scene)) == 100
    assert scene.reconcile()["summary"]["deliveries_read"] == 50 + 150  # the rest, then what is new with its overlap
    assert len(lost_guids(scene)) == 150


def test_a_success_that_was_read_in_another_walk_than_its_failure_counts(scene: Scene) -> None:
    lose(scene, "lost")
    scene.reconcile()
    with WebhookReceiver() as receiver:
        scene.github.state.configure(webhook_url=receiver.url + WEBHOOK_PATH)
        scene.github.courier.redeliver(scene.github.state.deliveries[0])
        scene.github.courier.settle()
    failures = [row for row in scene.github.state.deliveries if row.status_code != 200]
    scene.reconcile()
    scene.github.state.deliveries[:] = failures
    assert scene.reconcile()["summary"]["webhooks_lost"] == 0


def test_failures_of_another_applications_webhook_are_not_redelivered(scene: Scene) -> None:
    lose(scene, "lost")
    scene.github.state.configure(webhook_url="https://launcher.example.com/webhook")
    response = scene.reconcile()
    assert (response["summary"]["webhooks_lost"], redeliveries(scene)) == (0, 0)
    assert "https://launcher.example.com/webhook, does not end with /webhooks/github" in response["text"]


def test_a_pass_after_a_long_outage_does_not_send_everything_at_once(scene: Scene) -> None:
    for number in range(REDELIVERED_AT_MOST + 5):
        lose(scene, f"lost {number}")
    first = scene.reconcile()["summary"]
    assert (first["webhooks_redelivered"], first["postponed"]) == (REDELIVERED_AT_MOST, 5)
    assert scene.reconcile()["summary"]["webhooks_redelivered"] == 5


def test_a_redelivery_that_github_did_not_accept_does_not_count_as_an_attempt(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REDELIVERIES_AT_MOST", "1")
    lose(scene, "lost")
    scene.github.state.add_fault(kind="error", path="*/attempts", times=None)
    for _ in range(3):
        assert scene.reconcile()["summary"]["webhooks_redelivered"] == 0
    scene.github.state.clear_faults()
    assert scene.reconcile()["summary"]["webhooks_redelivered"] == 1


def test_redeliveries_that_github_never_accepts_keep_no_other_waiting(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deliveries, "REDELIVERED_AT_MOST", 3)
    for number in range(4):
        lose(scene, f"lost {number}")
        dated(scene, delivered_at=ago(minutes=9 - number))
    for row in scene.github.state.deliveries[:3]:
        scene.github.state.add_fault(kind="error", path=f"*/deliveries/{row.id}/attempts", times=None)
    assert scene.reconcile()["summary"]["webhooks_redelivered"] == 0
    assert scene.reconcile()["summary"]["webhooks_redelivered"] == 1


def test_redeliveries_are_spread_over_most_of_the_three_days() -> None:
    """The setting has its default."""
    settings = json.loads((Path(__file__).parents[2] / "cdk.json").read_text())["context"]
    pauses = [PAUSE_SECONDS * PAUSE_GROWTH**number for number in range(settings["redeliveries_at_most"] - 1)]
    assert 48 < sum(pauses) / 3600 < 72
