"""The functions of notifications, from the stream of the feed to the receiver."""

import json
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from runledger.model import times
from runledger.notifications.schedules import Content, Every, Schedule
from runledger.platform.clock import SystemClock

from tests.functions.conftest import World
from tests.notifications.moto_scene import MotoNotifications
from tests.notifications.scenes import SCOPE, event, record


@pytest.fixture
def deployed(world: World, monkeypatch: pytest.MonkeyPatch) -> MotoNotifications:
    return MotoNotifications(world, monkeypatch)


def test_an_event_of_the_feed_reaches_the_receivers_through_the_functions(deployed: MotoNotifications) -> None:
    assert deployed.route(1) == {"batchItemFailures": []}
    assert deployed.statuses() == {"1": ["queued"], "2": ["queued"], "3": ["queued"]}
    assert deployed.send() == {"batchItemFailures": []}
    assert deployed.statuses() == {"1": ["completed"], "2": ["processing"], "3": ["failed"]}
    found = {each["subscription_id"].lstrip("0"): each for each in deployed.scene.all()}
    assert found["1"]["notification_id"]
    assert "retry_count" in found["2"]
    assert found["2"]["error_message"]
    assert "removed" not in found["3"]["error_message"]
    assert deployed.scene.stored_event(event(1)["event_id"])["status"] == "failed"


def test_an_entry_that_is_no_entry_stays_in_the_queue_and_the_others_go_on(deployed: MotoNotifications) -> None:
    deployed.route(1)
    entries = deployed.world.waiting("fast")
    broken = {"messageId": "broken", "body": '{"message_id": 7}', "eventSource": "aws:sqs"}
    response = deployed.world.invoke("notification_sender", {"Records": [broken, *entries]})
    assert response == {"batchItemFailures": [{"itemIdentifier": "broken"}]}
    assert deployed.statuses()["1"] == ["completed"]


def test_an_event_that_can_not_be_routed_is_a_dead_letter_without_its_content(deployed: MotoNotifications) -> None:
    broken = event(1) | {"payload": json.dumps({"installation_id": SCOPE + 1, "note": "private"})}
    deployed.world.invoke("notification_router", {"Records": [record(broken) | {"eventID": "e1"}]})
    (letter,) = deployed.world.waiting("discarded")
    assert json.loads(letter["body"])["eventID"] == "e1"
    assert "private" not in letter["body"]
    assert deployed.statuses() == {}


def test_a_tick_sends_overdue_messages_and_digests_that_are_due(deployed: MotoNotifications) -> None:
    deployed.scene.clock.now = times.earlier(SystemClock().text(), seconds=20 * times.SECONDS_PER_MINUTE)
    deployed.scene.route(1)  # a while ago, and its entries of the queue are lost
    assert deployed.tick() == {"sent_again": 3, "scheduled": 0}
    deployed.send()
    assert deployed.statuses()["1"] == ["completed"]


def test_messages_that_are_due_leave_time_for_schedules(deployed: MotoNotifications) -> None:
    """Messages of one installation may be due by the ten thousands. Without a share of the tick, no digest is sent."""
    this_hour = Schedule(
        every=Every.DAY, hour=datetime.now(UTC).hour, content=Content.REMINDER, text="Water the plants"
    )
    deployed.scene.subscribe(9, types=(), schedule=this_hour, schedule_since="2025-01-01T00:00:00.000Z")
    deployed.scene.route(1)
    tick = deployed.world.start("notification_schedules").handler
    context = SimpleNamespace(aws_request_id="a-request", get_remaining_time_in_millis=lambda: 140_000)
    assert tick({}, context) == {"sent_again": 1, "scheduled": 1}
