"""Receivers that fail are left alone for a while, and those that are slow delay only each other."""

from itertools import pairwise

from runledger.model import times
from runledger.notifications import attempts
from runledger.notifications.channels.interface import SendResult
from runledger.notifications.messages import Author, runledger_message
from runledger.notifications.queue import Lane
from runledger.notifications.sender import Sent
from runledger.notifications.texts import RunledgerType

from tests.notifications.scenes import NOON, SCOPE, Scene
from tests.notifications.test_sender import DOWN, behave, recover

OLGA = Author(id="token:olga", at=NOON, correlation_id="c", deployment_urls=())


def test_the_pause_that_a_receiver_requests_is_kept(scene: Scene) -> None:
    scene.subscribe()
    for number in (1, 2):
        scene.route(number)
    behave(scene, SendResult.try_later("The receiver returned 429", retry_after_seconds=600))
    assert sorted(scene.drain()) == [Sent.DEFERRED, Sent.MOVED, Sent.RETRIED]
    assert {each["next_attempt_at"] >= times.earlier(NOON, seconds=-600) for each in scene.all()} == {True}
    assert len(scene.channel.received) == 1


def test_after_three_failures_a_receiver_gets_one_probe_at_a_time(scene: Scene) -> None:
    scene.subscribe()
    for number in range(1, 21):
        scene.route(number)
    behave(scene, SendResult.try_later(DOWN))
    scene.drain()
    assert len(scene.channel.received) == attempts.FAILURES_UNTIL_PAUSE
    for failures in range(3, 8):
        before = len(scene.channel.received)
        health = scene.receivers.table.get(SCOPE, f"{1:032x}")
        assert health["failures"] == failures
        scene.clock.now = times.earlier(health["paused_until"], seconds=-120)
        scene.sweep.run()
        scene.drain()
        assert len(scene.channel.received) == before + 1
    recover(scene)
    scene.live(hours=3)
    assert {each["status"] for each in scene.all()} == {"completed"}
    assert len(set(scene.channel.ids(f"{1:032x}"))) == 20
    assert "paused_until" not in scene.receivers.table.get(SCOPE, f"{1:032x}")


def test_while_one_sender_probes_a_receiver_others_wait(scene: Scene) -> None:
    subscription = scene.subscribe()
    for _ in range(attempts.FAILURES_UNTIL_PAUSE):
        scene.receivers.failed(subscription, at=NOON, error=DOWN, retry_after=None)
    after_pause = times.later(scene.receivers.health(subscription)["paused_until"], seconds=1)
    admitted = [
        scene.receivers.admits(subscription, scene.receivers.health(subscription), now=after_pause) for _ in range(2)
    ]
    assert admitted == [True, False]


def test_a_test_is_sent_during_a_pause_and_ends_it(scene: Scene) -> None:
    subscription = scene.subscribe()
    for _ in range(3):
        scene.receivers.failed(subscription, at=NOON, error=DOWN, retry_after=None)
    data = {"text": "Does it work again?"}
    scene.outbox.post(runledger_message(RunledgerType.TEST, data, subscription, OLGA, identity="1"))
    scene.outbox.post(runledger_message(RunledgerType.MESSAGE, data, subscription, OLGA, identity="1"))
    assert sorted(scene.drain()) == [Sent.COMPLETED, Sent.DEFERRED, *[Sent.MOVED] * 2]
    assert "paused_until" not in scene.receivers.health(subscription)


def test_tests_that_fail_dont_lengthen_a_pause(scene: Scene) -> None:
    subscription = scene.subscribe()
    behave(scene, SendResult.try_later(DOWN))
    for number in range(6):
        message = runledger_message(RunledgerType.TEST, {"text": "?"}, subscription, OLGA, identity=str(number))
        scene.outbox.post(message)
        scene.drain()
    health = scene.receivers.health(subscription)
    assert len(scene.channel.received) == 6
    assert health["failures"] == attempts.FAILURES_UNTIL_PAUSE
    assert health["paused_until"] < times.earlier(NOON, seconds=-attempts.FIRST_PAUSE_SECONDS - 1)


def test_two_senders_never_both_probe(scene: Scene) -> None:
    subscription = scene.subscribe()
    for _ in range(3):
        scene.receivers.failed(subscription, at=NOON, error=DOWN, retry_after=None)
    health = scene.receivers.health(subscription)
    later = times.earlier(health["paused_until"], seconds=-1)
    assert not scene.receivers.admits(subscription, health, now=NOON)
    assert [scene.receivers.admits(subscription, health, now=later) for _ in range(2)] == [True, False]


def test_a_receiver_that_hangs_takes_one_attempt_from_the_fast_lane_and_no_more(scene: Scene) -> None:
    """One sender for each lane: what others wait for is the time that the fast lane spends on it."""
    for number in (1, 2):
        scene.subscribe(number, repositories=(f"acme/r{number}",))
    for number in range(1, 31):
        scene.route(number, repo_full_name="acme/r1")
    for number in range(31, 41):
        scene.route(number, repo_full_name="acme/r2")
    behave(scene, SendResult.try_later(DOWN), 1)
    scene.channel.takes_seconds[f"{1:032x}"] = 15
    while scene.step(Lane.FAST):
        pass
    sent = [own_id for own_id, _ in scene.channel.received]
    assert sent.count(f"{1:032x}") == 1
    assert sent.count(f"{2:032x}") == 10
    assert scene.clock.seconds() < 17


def test_a_slow_receiver_that_accepts_everything_is_moved_to_its_own_lane(scene: Scene) -> None:
    for number in (1, 2):
        scene.subscribe(number)
    for number in range(1, 11):
        scene.route(number)
    scene.channel.takes_seconds[f"{1:032x}"] = 9
    while scene.step(Lane.FAST):
        pass
    assert len(scene.channel.ids(f"{1:032x}")) == 1
    assert len(scene.channel.ids(f"{2:032x}")) == 10
    assert scene.clock.seconds() < 11
    scene.drain()
    assert len(set(scene.channel.ids(f"{1:032x}"))) == 10
    scene.channel.takes_seconds.clear()
    scene.route(11)
    scene.drain()
    scene.route(12)
    assert [scene.step(Lane.FAST) for _ in range(2)] == [Sent.COMPLETED] * 2


def test_waits_grow_and_are_spread() -> None:
    waits = [attempts.retry_seconds(count, retry_after=None, dice=lambda: 0.5) for count in range(12)]
    assert waits[0] == 10
    assert all(before <= after for before, after in pairwise(waits))
    assert waits[-1] == attempts.LONGEST_RETRY_SECONDS
    assert 20 * times.SECONDS_PER_HOUR < sum(waits) < times.SECONDS_PER_DAY
    spread = {attempts.retry_seconds(3, retry_after=None, dice=lambda each=each: each / 10) for each in range(10)}  # type: ignore[misc]
    assert len(spread) == 10
    assert attempts.retry_seconds(0, retry_after=10**9, dice=lambda: 0) == attempts.LONGEST_RETRY_AFTER_SECONDS
