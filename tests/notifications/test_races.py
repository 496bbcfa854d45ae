"""Races: two senders of a message, two messages of an event, and the sweep beside a sender, in every order."""

from typing import Any

from runledger.notifications.channels.interface import Outgoing, SendResult
from runledger.notifications.queue import QueuedMessage
from runledger.notifications.subscriptions import Subscription

from tests.notifications.test_crashes import BusChannel, NotificationWorld, event_status, routing, scene_of, send_all
from tests.simulation.calls import Step
from tests.simulation.explore import Flow, Outcome, interleavings, play
from tests.simulation.world import Process

PREEMPTIONS = 2


class Refusing(BusChannel):
    """The receiver of one subscription refuses, and others accept."""

    def __init__(self, events: Any, refusing: str) -> None:
        super().__init__(events, accepts=True)
        self.refusing = refusing

    def open(self, subscription: Subscription) -> Any:
        return Refuses() if subscription.subscription_id == self.refusing else self


class Refuses:
    def send(self, _: Outgoing) -> SendResult:
        return SendResult.refused("410")


def routed(subscriptions: int) -> NotificationWorld:
    world = NotificationWorld(subscriptions)
    play(world, {"router": routing})
    return world


def send(world: NotificationWorld, number: int, *, refusing: str = "") -> Flow:
    """Sends the message of one subscription, as one entry of the queue."""
    (message,) = [each for each in world.messages() if each["subscription_id"] == f"{number:032x}"]
    entry = QueuedMessage.of(message)

    def flow(process: Process) -> None:
        scene = scene_of(process)
        scene.channel = Refusing(process.world.client("events"), refusing)
        scene.sender.process(entry)

    return flow


def test_two_senders_with_the_same_entry_send_it_once() -> None:
    world, number = routed(1), 0
    for outcome in interleavings(world, send(world, 1), send(world, 1), preemptions=PREEMPTIONS):
        number += 1
        assert len(world.received()) == 1, outcome.story()
        assert [each["status"] for each in world.messages()] == ["completed"], outcome.story()
        assert event_status(world) == "delivered", outcome.story()
    assert number > 20


def test_two_senders_with_the_same_entry_make_one_attempt_at_a_receiver_that_fails() -> None:
    """The slower one has read the message before the attempt, and must not repeat it at once."""
    world, number = routed(1), 0
    entry = QueuedMessage.of(world.messages()[0])

    def attempt(process: Process) -> None:
        scene_of(process, accepts=False).sender.process(entry)

    for outcome in interleavings(world, attempt, attempt, preemptions=PREEMPTIONS):
        number += 1
        (message,) = world.messages()
        assert len(world.received()) == 1, outcome.story()
        assert (message["status"], message["retry_count"], message["dispatch"]) == ("processing", 1, 2), outcome.story()
    assert number > 20


def test_an_event_with_a_failed_message_is_failed_however_its_messages_meet() -> None:
    world, number = routed(2), 0
    first = f"{1:032x}"
    flows = [send(world, each, refusing=first) for each in (1, 2)]
    for outcome in interleavings(world, *flows, preemptions=PREEMPTIONS):
        number += 1
        assert sorted(each["status"] for each in world.messages()) == ["completed", "failed"], outcome.story()
        assert event_status(world) == "failed", outcome.story()
        assert not was_written(outcome, "delivered"), outcome.story()
    assert number > 20


def was_written(outcome: Outcome, status: str) -> bool:
    """Whether the status was stored at any time: the status of an event never moves back."""
    steps = [step for step in outcome.steps if isinstance(step, Step) and step.result == "ok"]
    return any({"S": status} in step.arguments.get("ExpressionAttributeValues", {}).values() for step in steps)


def test_a_sweep_beside_a_sender_sends_nothing_twice() -> None:
    world, number = routed(1), 0
    world.clock.advance(3600)

    def sweep(process: Process) -> None:
        scene_of(process).sweep.run()

    def rest(process: Process) -> None:
        send_all(process, scene_of(process))

    for outcome in interleavings(world, send(world, 1), sweep, preemptions=PREEMPTIONS):
        number += 1
        play(world, {"rest": rest})
        assert len(world.received()) == 1, outcome.story()
        assert [each["status"] for each in world.messages()] == ["completed"], outcome.story()
    assert number > 10
