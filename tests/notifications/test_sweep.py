"""The sweep: what a crash left and what waited for longer than SQS can comes back to the queue, and not too often."""

import json
from typing import Any

import pytest
from runledger.model import times
from runledger.notifications.channels.interface import SendResult
from runledger.notifications.queue import Lane
from runledger.notifications.sender import Sent
from runledger.notifications.sweep import OVERDUE_SECONDS, SWEEP_AGAIN_SECONDS

from tests.notifications.scenes import Scene


@pytest.fixture
def scene(scene: Scene) -> Scene:
    scene.subscribe()
    return scene


def oldest(capsys: pytest.CaptureFixture[str]) -> list[float]:
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    return [line["OldestNotification"] for line in lines if "OldestNotification" in line]


def test_a_message_whose_entry_was_lost_is_sent_and_queued_again(scene: Scene) -> None:
    item = scene.publish()
    scene.router.route(scene.stored_event(item["event_id"]))
    scene.sqs.entries.clear()
    assert scene.sweep.run() == 0
    scene.clock.advance(OVERDUE_SECONDS + 1)
    assert scene.sweep.run() == 1
    assert scene.drain() == [Sent.COMPLETED]
    assert scene.sweep.run() == 0


def test_behind_a_long_queue_a_message_is_sent_once_more_in_half_an_hour_and_its_first_entry_stays_valid(
    scene: Scene,
) -> None:
    scene.route()
    scene.clock.advance(OVERDUE_SECONDS + 1)
    assert [scene.sweep.run() for _ in range(3)] == [1, 0, 0]
    scene.clock.advance(SWEEP_AGAIN_SECONDS + 1)
    assert scene.sweep.run() == 1
    assert scene.drain() == [Sent.COMPLETED, Sent.DROPPED, Sent.DROPPED]


def test_a_message_that_is_being_sent_is_left_alone(scene: Scene) -> None:
    scene.route()
    (message,) = scene.all()
    scene.clock.advance(OVERDUE_SECONDS + 1)
    until = times.earlier(scene.clock(), seconds=-120)
    assert scene.messages.claim(message, at=scene.clock(), until=until)
    assert scene.sweep.run() == 0


def test_a_wait_that_sqs_can_not_hold_is_the_sweeps_and_ends_when_it_is_due(scene: Scene) -> None:
    scene.route()
    scene.channel.behaviour[f"{1:032x}"] = lambda _: SendResult.try_later("429", retry_after_seconds=1800)
    scene.drain()
    assert scene.sqs.entries == []
    (message,) = scene.all()
    assert message["parked"] is True
    scene.clock.now = times.earlier(message["due_at"], seconds=1)
    assert scene.sweep.run() == 0
    scene.channel.behaviour.clear()
    scene.clock.advance(40)
    assert scene.sweep.run() == 1
    assert scene.step(Lane.SLOW) is Sent.COMPLETED


def test_the_longest_overdue_message_is_measured_and_one_that_waits_on_purpose_is_not(
    scene: Scene, capsys: pytest.CaptureFixture[str]
) -> None:
    scene.sweep.run()
    scene.route()
    scene.clock.advance(100)
    scene.sweep.run()
    assert oldest(capsys) == [0, 100]
    scene.channel.behaviour[f"{1:032x}"] = lambda _: SendResult.try_later("429", retry_after_seconds=3600)
    scene.drain()
    scene.clock.advance(100)
    scene.sweep.run()
    assert oldest(capsys) == [0]


def test_a_sweep_without_time_leaves_the_rest_to_the_next_one(scene: Scene) -> None:
    for number in range(1, 6):
        scene.route(number)
    scene.sqs.entries.clear()
    scene.clock.advance(OVERDUE_SECONDS + 10)
    left = iter([True, False])

    def has_time() -> Any:
        return next(left)

    assert scene.sweep.run(has_time=has_time) == 2
    assert scene.sweep.run() == 3
