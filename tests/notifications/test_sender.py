"""The sender: states, retries, pauses and dead letters for every kind of receiver."""

from typing import Any

from runledger.model import times
from runledger.notifications.channels.interface import SendResult
from runledger.notifications.messages import Author, sent_again
from runledger.notifications.queue import QueuedMessage
from runledger.notifications.sender import Sent
from runledger.tables.messages import NextAttempt

from tests.notifications.scenes import NOON, SCOPE, Scene

DOWN = "The receiver didn't respond within 15 seconds"


def behave(scene: Scene, receipt: SendResult, number: int = 1) -> None:
    scene.channel.behaviour[f"{number:032x}"] = lambda _: receipt


def recover(scene: Scene, number: int = 1) -> None:
    del scene.channel.behaviour[f"{number:032x}"]


def one(scene: Scene) -> dict[str, Any]:
    (message,) = scene.all()
    return message


def status_of_event(scene: Scene, number: int = 1) -> tuple[str, int]:
    found = scene.stored_event(f"{number:032x}")
    return found["status"], found["retry_count"]


def test_an_accepted_message_is_completed_and_its_event_delivered(scene: Scene) -> None:
    scene.subscribe()
    scene.route()
    assert scene.drain() == [Sent.COMPLETED]
    found = one(scene)
    assert (found["status"], found["notification_id"], found["retry_count"]) == ("completed", "n1", 0)
    assert found["processing_started_at"] == NOON
    assert found["processing_completed_at"] == times.earlier(NOON, seconds=-0.1)
    assert not {"open", "due_at", "claimed_until", "next_attempt_at", "error_message"} & found.keys()
    assert status_of_event(scene) == ("delivered", 0)
    _, sent = scene.channel.received[0]
    assert (sent.message_id, sent.attempt, sent.sent_at) == (found["message_id"], 1, NOON)
    assert sent.envelope["type"] == "job.failed"


def test_a_completed_message_is_not_sent_again_however_often_its_entry_comes(scene: Scene) -> None:
    scene.subscribe()
    scene.route()
    entry = QueuedMessage.of(one(scene))
    scene.drain()
    for _ in range(3):
        scene.queue.send(entry)
    assert scene.drain() == [Sent.DROPPED] * 3
    assert len(scene.channel.received) == 1


def test_a_failed_attempt_is_repeated_with_growing_waits_under_the_same_id(scene: Scene) -> None:
    scene.subscribe()
    scene.route()
    behave(scene, SendResult.try_later(DOWN))
    assert scene.drain() == [Sent.RETRIED]
    found = one(scene)
    assert (found["status"], found["retry_count"], found["error_message"]) == ("processing", 1, DOWN)
    assert found["next_attempt_at"] == times.earlier(NOON, seconds=-10.1)
    assert status_of_event(scene) == ("retrying", 1)
    recover(scene)
    scene.clock.advance(10)
    assert scene.drain() == [Sent.COMPLETED]
    assert len(set(scene.channel.ids(f"{1:032x}"))) == 1
    assert [sent.attempt for _, sent in scene.channel.received] == [1, 2]
    assert (one(scene)["status"], one(scene)["retry_count"]) == ("completed", 1)
    assert status_of_event(scene) == ("delivered", 1)


def test_an_entry_of_an_earlier_attempt_does_nothing(scene: Scene) -> None:
    """SQS hands it out again if its sender died before it was deleted."""
    scene.subscribe()
    scene.route()
    earlier = QueuedMessage.of(one(scene))
    behave(scene, SendResult.try_later(DOWN))
    scene.drain()
    following = list(scene.sqs.entries)
    scene.queue.send(earlier)
    assert scene.drain() == [Sent.DROPPED]
    assert scene.sqs.entries == following


def test_after_a_day_without_success_the_message_is_a_dead_letter(scene: Scene) -> None:
    scene.subscribe()
    scene.route()
    behave(scene, SendResult.try_later(DOWN))
    scene.live(hours=25)
    found = one(scene)
    assert (found["status"], found["error_message"]) == ("failed", DOWN)
    assert 20 <= times.ms_between(NOON, found["processing_completed_at"]) / times.MS_PER_HOUR <= 24.5
    assert 8 <= found["retry_count"] <= 14
    assert len(scene.channel.received) == found["retry_count"] + 1
    assert status_of_event(scene)[0] == "failed"
    assert scene.sqs.entries == []
    before = scene.channel.received[:]
    scene.live(hours=5)
    assert scene.channel.received == before


def test_a_message_whose_senders_always_fail_ends_after_its_day(scene: Scene) -> None:
    scene.subscribe()
    scene.route()
    scene.sqs.take()  # it became a dead letter
    for hours, expected in ((23, None), (24.5, None), (25.1, Sent.FAILED)):
        scene.clock.now = times.earlier(NOON, seconds=-hours * times.SECONDS_PER_HOUR)
        assert scene.sweep.run() == 1
        assert (scene.step() if expected else scene.sqs.take()) is not None
        assert one(scene)["status"] == (expected or "queued")
    assert scene.channel.received == []
    assert one(scene)["error_message"] == "No attempt could be made for a day"
    assert status_of_event(scene)[0] == "failed"
    scene.clock.advance(times.SECONDS_PER_HOUR)
    assert scene.sweep.run() == 0


def test_the_last_attempt_of_a_message_may_be_late(scene: Scene) -> None:
    scene.subscribe()
    scene.route()
    scene.clock.now = times.earlier(NOON, seconds=-24.5 * times.SECONDS_PER_HOUR)
    assert scene.drain() == [Sent.COMPLETED]


def test_a_refusal_is_final(scene: Scene) -> None:
    scene.subscribe()
    scene.route()
    behave(scene, SendResult.refused("The receiver returned 410 Gone"))
    assert scene.drain() == [Sent.FAILED]
    assert (one(scene)["status"], one(scene)["retry_count"]) == ("failed", 0)
    assert status_of_event(scene) == ("failed", 0)


def test_an_event_is_delivered_when_all_its_messages_are(scene: Scene) -> None:
    for number in (1, 2):
        scene.subscribe(number)
    scene.route()
    behave(scene, SendResult.try_later(DOWN), 2)
    scene.drain()
    assert status_of_event(scene) == ("retrying", 1)
    recover(scene, 2)
    scene.clock.advance(60)
    scene.drain()
    assert status_of_event(scene) == ("delivered", 1)


def test_an_event_is_failed_when_one_message_is_even_if_another_completes_later(scene: Scene) -> None:
    for number in (1, 2):
        scene.subscribe(number)
    scene.route()
    behave(scene, SendResult.refused("gone"), 1)
    behave(scene, SendResult.try_later(DOWN), 2)
    scene.drain()
    assert status_of_event(scene)[0] == "failed"
    recover(scene, 2)
    scene.clock.advance(60)
    scene.drain()
    assert sorted(each["status"] for each in scene.all()) == ["completed", "failed"]
    assert status_of_event(scene)[0] == "failed"


def test_messages_of_a_deleted_or_disabled_subscription_fail_without_a_call(scene: Scene) -> None:
    first, second = scene.subscribe(1), scene.subscribe(2)
    scene.route()
    scene.subscriptions.delete(SCOPE, first.subscription_id)
    scene.subscriptions.replace(second.to_item() | {"enabled": False}, read_version=1)
    assert scene.drain() == [Sent.FAILED] * 2
    assert scene.channel.received == []
    assert {each["status"] for each in scene.all()} == {"failed"}


def test_a_message_of_a_subscription_that_is_newer_than_the_senders_cache_is_sent(scene: Scene) -> None:
    sender = scene.sender  # keeps what it reads
    old = scene.subscribe(1, enabled=False)
    assert sender.subscriptions.of(SCOPE) == (old,)
    scene.subscribe(2)
    scene.subscriptions.replace(old.to_item() | {"enabled": True, "version": 2}, read_version=1)
    scene.route()
    found = [sender.process(scene.sqs.take()) for _ in range(2)]
    assert found == [Sent.COMPLETED] * 2


def test_a_sender_whose_lease_was_lost_changes_nothing(scene: Scene) -> None:
    scene.subscribe()
    scene.route()
    message = one(scene)
    late = scene.messages.claim(message, at=NOON, until=times.earlier(NOON, seconds=-120))
    assert late
    assert scene.messages.claim(message, at=NOON, until=NOON) is None
    scene.clock.advance(121)
    assert scene.drain() == [Sent.COMPLETED]
    before = one(scene)
    following = scene.sender
    assert not following.messages.complete(late, at=scene.clock(), notification_id="late")
    assert not following.messages.fail(late, at=scene.clock(), error="late")
    assert one(scene) == before


def test_a_status_never_goes_backwards(scene: Scene) -> None:
    scene.subscribe()
    scene.route()
    message = one(scene)
    assert not scene.messages.mark_queued(SCOPE, message["message_id"], at=NOON)
    scene.drain()
    ended = one(scene)
    assert scene.messages.claim(ended, at="2025-01-16T00:00:00.000Z", until="2025-01-16T00:02:00.000Z") is None
    assert not scene.messages.mark_queued(SCOPE, message["message_id"], at=NOON)
    assert not scene.messages.abandon(ended, at=NOON, error="late")
    assert not scene.messages.sweep(ended, at=NOON, swept_before=NOON)
    assert one(scene) == ended


def test_a_message_that_is_being_sent_is_not_abandoned(scene: Scene) -> None:
    """Its subscription may be disabled meanwhile: what the receiver responds decides."""
    scene.subscribe()
    scene.route()
    (message,) = scene.all()
    claimed = scene.messages.claim(message, at=NOON, until="2025-01-15T12:02:00.000Z")
    assert claimed
    assert not scene.messages.abandon(message, at=NOON, error="The subscription was disabled")
    assert scene.messages.complete(claimed, at=NOON, notification_id=None)


def test_a_message_is_sent_again_once_however_late_the_request_is_repeated() -> None:
    failed = {"installation_id": SCOPE, "message_id": "m1", "subscription_id": "s1", "message_type": "job.failed"}
    again = [
        sent_again(failed, {}, Author(id="token:olga", at=at, correlation_id=at, deployment_urls=()))
        for at in (NOON, "2025-01-15T12:00:01.000Z")
    ]
    assert again[0].message_id == again[1].message_id != failed["message_id"]


def test_a_late_retry_reopens_nothing(scene: Scene) -> None:
    scene.subscribe()
    scene.route()
    (message,) = scene.all()
    late = scene.messages.claim(message, at=NOON, until=NOON)
    current = scene.messages.claim(message, at=NOON, until="2025-01-15T12:02:00.000Z")
    assert late
    assert current
    assert scene.messages.complete(current, at=NOON, notification_id=None)
    following = NextAttempt(at=NOON, parked=False, dispatch=2)
    assert not scene.messages.retry(late, following, at=NOON, error="no response")
