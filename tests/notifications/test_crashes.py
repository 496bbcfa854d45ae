"""Crashes and faults at every call: no message is lost, and none is sent twice outside the crash window."""

from typing import Any

import pytest
from botocore.exceptions import BotoCoreError, ClientError
from runledger.model.errors import UnavailableError
from runledger.notifications.channels.interface import Outgoing, SendResult
from runledger.notifications.queue import Lane, read
from runledger.notifications.subscriptions import Subscription
from runledger.tables.attributes import from_attributes

from tests.feeds.streams import ALL_TABLES
from tests.notifications.scenes import NOON, SCOPE, TABLE, URLS, Clock, Scene, event
from tests.simulation.calls import Fault, Step
from tests.simulation.engine import Engine
from tests.simulation.explore import Flow, Outcome, crash_points, fault_points, play
from tests.simulation.services import Queues
from tests.simulation.world import Process, World

RECEIVE = "put_events"  # the receiver is the bus of the world: what it has received is saved and restored with it
# Longer than a lease, and than the time after which a message counts as overdue.
LATER_SECONDS = 15 * 60
MOST_ROUNDS = 40


class DelayingQueues(Queues):
    def send_message(self, **message: Any) -> dict[str, str]:
        assert 0 <= message.get("DelaySeconds", 0) <= 900
        return super().send_message(QueueUrl=message["QueueUrl"], MessageBody=message["MessageBody"])


class NotificationWorld(World):
    """Subscriptions, and an event in the feed that they match. A repetition doesn't exceed their limits."""

    def __init__(self, subscriptions: int = 1) -> None:
        super().__init__()
        self.engine = Engine(ALL_TABLES)
        self.engine.lag = self._lag
        self.queues = DelayingQueues()
        self.services |= {"dynamodb": self.engine, "sqs": self.queues}
        scene = Scene(self.engine)
        for number in range(1, subscriptions + 1):
            scene.subscribe(number, at_most_per_hour=1)
        scene.publish()

    def messages(self) -> list[dict[str, Any]]:
        return Scene(self.engine).all()

    def received(self) -> list[str]:
        return [each["message_id"] for each in self.bus.entries]


class BusChannel:
    def __init__(self, events: Any, *, accepts: bool) -> None:
        self.events, self.accepts = events, accepts

    def open(self, _: Subscription) -> "BusChannel":
        return self

    def send(self, outgoing: Outgoing) -> SendResult:
        """Like a channel, it never raises for what a receiver does."""
        try:
            self.events.put_events(Entries=[{"message_id": outgoing.message_id}])
        except (ClientError, BotoCoreError):
            return SendResult.try_later("The receiver didn't respond")
        return SendResult.accepted("n") if self.accepts else SendResult.try_later("The receiver returned 500")


def scene_of(process: Process, *, accepts: bool = True) -> Scene:
    world = process.world
    return Scene(
        world.client("dynamodb"),
        clock=Clock(world.clock.text()),
        sqs=world.client("sqs"),
        channel=BusChannel(world.client("events"), accepts=accepts),
    )


def send_all(process: Process, scene: Scene) -> None:
    """SQS hands out each entry, and deletes it when the sender has finished."""
    queues = process.world.queues
    for url in (URLS[Lane.FAST], URLS[Lane.SLOW]):
        for body in queues.messages.get(url, ()):
            scene.sender.process(read(body))
            left = list(queues.messages[url])
            left.remove(body)
            queues.messages[url] = tuple(left)


def routing(process: Process) -> None:
    scene = scene_of(process)
    scene.router.route(_event())


def sending(*, accepts: bool = True) -> Flow:
    def flow(process: Process) -> None:
        scene = scene_of(process, accepts=accepts)
        scene.router.route(_event())
        send_all(process, scene)

    return flow


def later(process: Process) -> None:
    """The stream and SQS deliver again, and the sweep runs, until every message has ended."""
    for _ in range(MOST_ROUNDS):
        process.world.clock.advance(LATER_SECONDS)
        scene = scene_of(process)
        scene.router.route(_event())
        scene.sweep.run()
        try:
            send_all(process, scene)
        except UnavailableError:
            continue
        if all("open" not in each for each in process.world.messages()):  # type: ignore[attr-defined]
            return
    raise AssertionError("a message has not ended")


def _event() -> dict[str, Any]:
    item = event(1)
    return {**item, "status": "received", "retry_count": 0}


def then_later(flow: Flow) -> Flow:
    def both(process: Process) -> None:
        flow(process)
        later(process)

    return both


def disturbed(outcome: Outcome) -> Step | None:
    return next((step for step in outcome.steps if isinstance(step, Step) and step.fault), None)


def event_status(world: World) -> str:
    items = [from_attributes(each) for each in world.engine.scan(TableName="feed")["Items"]]
    return str(next(each["status"] for each in items if "event_type" in each))


@pytest.mark.parametrize("points", [crash_points, fault_points])
@pytest.mark.parametrize("subscriptions", [1, 2])
def test_a_message_is_completed_whatever_call_dies_or_fails(points: Any, subscriptions: int) -> None:
    world, number = NotificationWorld(subscriptions), 0
    for outcome in points(world, then_later(sending()), recover=later):
        number += 1
        found = world.messages()
        assert [each["status"] for each in found] == ["completed"] * subscriptions, outcome.story()
        assert event_status(world) == "delivered", outcome.story()
        assert {*world.received()} == {each["message_id"] for each in found}, outcome.story()
        if len(world.received()) > subscriptions:
            assert in_the_window(outcome), outcome.story()
    assert number > 20


def in_the_window(outcome: Outcome) -> bool:
    """The receiver got the message, and the sender never recorded it."""
    step = disturbed(outcome)
    assert step is not None
    if step.operation == RECEIVE:
        return step.fault in (Fault.KILLED_AFTER, Fault.RESPONSE_LOST, Fault.SENT_TWICE)
    before = [each for each in outcome.steps if isinstance(each, Step) and each.number < step.number]
    last = next((each for each in reversed(before) if each.task == step.task), None)
    return step.operation == "update_item" and last is not None and last.operation == RECEIVE


def test_a_retry_survives_a_crash_at_every_call() -> None:
    world, number = NotificationWorld(), 0
    for outcome in crash_points(world, then_later(sending(accepts=False)), recover=later):
        number += 1
        (found,) = world.messages()
        assert found["status"] == "completed", outcome.story()
        assert found["retry_count"] <= 2, outcome.story()
        assert event_status(world) == "delivered", outcome.story()
        assert len(world.received()) <= 3, outcome.story()
    assert number > 20


@pytest.mark.parametrize("points", [crash_points, fault_points])
def test_a_message_of_a_deleted_subscription_fails_with_its_event_whatever_call_dies_or_fails(points: Any) -> None:
    world, number = NotificationWorld(), 0
    play(world, {"router": routing})
    Scene(world.engine).subscriptions.delete(SCOPE, f"{1:032x}")
    for outcome in points(world, lambda process: send_all(process, scene_of(process)), recover=later):
        number += 1
        assert [each["status"] for each in world.messages()] == ["failed"], outcome.story()
        assert event_status(world) == "failed", outcome.story()
        assert world.received() == []
    assert number > 10


@pytest.mark.parametrize("points", [crash_points, fault_points])
@pytest.mark.parametrize("change", ["delete", "disable", "add"])
def test_an_event_gets_its_status_if_subscriptions_change_before_a_router_that_died_is_repeated(
    points: Any, change: str
) -> None:
    """The first attempt decides which subscriptions get a message."""
    first, second = f"{1:032x}", f"{2:032x}"

    def change_and_repeat(process: Process) -> None:
        scene = Scene(process.world.engine)
        stored = scene.subscriptions.get(SCOPE, second) or {}
        if change == "delete":
            scene.subscriptions.delete(SCOPE, second)
        elif change == "disable":
            scene.subscriptions.replace({**stored, "enabled": False, "version": 2}, read_version=1)
        else:
            scene.subscribe(3, created_at=NOON)
        later(process)

    world, incomplete = NotificationWorld(2), 0
    for outcome in points(world, routing, recover=change_and_repeat):
        play(world, {"later": later})
        found = {each["subscription_id"]: each["status"] for each in world.messages()}
        assert found[first] == "completed", outcome.story()
        expected = "delivered" if {*found.values()} == {"completed"} else "failed"
        assert event_status(world) == expected, outcome.story()
        incomplete += expected == "failed"
    assert bool(incomplete) is (change != "add")


def test_a_message_that_the_router_left_is_created_once_and_queued() -> None:
    world = NotificationWorld(2)
    for outcome in crash_points(world, routing):
        assert {each["status"] for each in world.messages()} == {"queued"}, outcome.story()
        assert len(world.messages()) == 2
        hours = [each for each in world.engine.scan(TableName=TABLE)["Items"] if "message_ids" in each]
        assert [len(each["message_ids"]["SS"]) for each in hours] == [1, 1]
        entries = {read(body).message_id for body in world.queues.messages[URLS[Lane.FAST]]}
        assert entries == {each["message_id"] for each in world.messages()}, outcome.story()
