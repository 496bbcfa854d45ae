"""Notifications of many installations: what one of them sends or stores delays no message of another."""

import json

import pytest
from runledger.notifications import stream
from runledger.notifications.administration import Administration, TooManyMessages
from runledger.notifications.filters import LONGEST_VALUE, EventFilter
from runledger.notifications.messages import Author
from runledger.notifications.queue import Lane, NotificationQueue, QueuedMessage
from runledger.notifications.routing import Routed
from runledger.notifications.secrets import SecretStore
from runledger.tables.receivers import ReceiversTable

from tests.feeds.streams import ALL_TABLES
from tests.functions.conftest import World, world
from tests.notifications.scenes import NOON, SCOPE, TABLE, Scene, event, record
from tests.simulation.engine import Engine
from tests.support.channels import channel_settings

__all__ = ["world"]


@pytest.fixture
def scene() -> Scene:
    return Scene(Engine(ALL_TABLES))


def administration(scene: Scene) -> Administration:
    return Administration(
        subscriptions=scene.subscriptions,
        receivers=ReceiversTable(scene.client, TABLE),
        secrets=SecretStore(client=None, prefix="unused/"),
        outbox=scene.outbox,
        channels=channel_settings(),
        counts=scene.counts,
    )


def test_a_long_value_in_an_own_event_matches_no_pattern() -> None:
    """50 patterns of 200 characters take half a second for 60 KB: with 100 subscriptions, one event would exceed the
    time of the router, which then repeats it for a day and routes nothing else.
    """
    wanted = EventFilter(types=("*",), repositories=("*",), branches=("*",))

    def matches(repository: str, branch: str) -> bool:
        return wanted.matches({"type": "team.x", "data": {"repo_full_name": repository, "head_branch": branch}})

    longest = "a" * LONGEST_VALUE
    assert matches(longest, longest)
    assert not matches(f"{longest}a", "main")
    assert not matches("acme/api", f"{longest}a")


@pytest.mark.parametrize("lane", list(Lane))
def test_each_lane_is_shared_fairly_among_installations(world: World, lane: Lane) -> None:
    """A flood of one installation would otherwise occupy all senders: SQS needs to know whose a message is."""
    url = world.sqs.create_queue(QueueName=lane)["QueueUrl"]
    queue = NotificationQueue(sqs=world.sqs, urls={lane: url})
    for scope in (SCOPE, SCOPE + 1):
        queue.send(QueuedMessage(installation_id=scope, message_id=f"m{scope}", dispatch=1, lane=lane), delay_seconds=0)
    received = world.sqs.receive_message(
        QueueUrl=url, MaxNumberOfMessages=10, MessageSystemAttributeNames=["MessageGroupId"]
    )["Messages"]
    groups = {json.loads(each["Body"])["message_id"]: each["Attributes"]["MessageGroupId"] for each in received}
    assert groups == {f"m{scope}": str(scope) for scope in (SCOPE, SCOPE + 1)}


def test_no_caller_can_use_up_the_own_id_of_anothers_text(scene: Scene) -> None:
    scene.subscribe()
    sent = [
        administration(scene).post(
            SCOPE,
            {"text": text},
            Author(id=caller, at=NOON, correlation_id="r", deployment_urls=()),
            to=None,
            client_id=own,
        )
        for caller, own, text in (("token:ci", "x#deploy", "decoy"), ("token:ci#x", "deploy", "genuine"))
    ]
    assert len({each.message_id for (each,) in sent}) == 2


def test_an_installation_has_a_limit_of_messages_in_an_hour_and_others_are_not_affected(scene: Scene) -> None:
    """A hundred subscriptions make a hundred messages of each post: at 300 posts a minute, they cost $0.55 a minute."""
    scene.most_per_hour = 5
    for number in range(1, 4):
        scene.subscribe(number)
    other = scene.subscribe(9, installation_id=SCOPE + 1)
    routed = [scene.router.route(scene.publish(number)) for number in range(1, 5)]
    assert [(each.created, each.suppressed) for each in routed] == [(3, 0), (3, 0), (0, 3), (0, 3)]
    foreign = event(8, installation_id=SCOPE + 1) | {"installation_id": SCOPE + 1}
    assert scene.router.route(foreign).created == 1
    assert other.installation_id != SCOPE
    scene.clock.advance(3600)
    assert scene.router.route(scene.publish(5)).created == 3


def test_an_event_that_was_admitted_is_completed_even_if_its_repetition_exceeds_the_limit(scene: Scene) -> None:
    """Otherwise a router that died in its midst would leave the event waiting for messages that never come."""
    scene.most_per_hour = 1
    subscription, item = scene.subscribe(), scene.publish()
    wanted = [subscription.subscription_id]
    scene.event_messages.expect(SCOPE, item["event_id"], position=item["SK"], subscription_ids=wanted, at=NOON)
    assert scene.counts.count(SCOPE, 1, at=NOON)
    assert not scene.counts.count(SCOPE, 1, at=NOON)
    assert scene.router.route(item) == Routed(created=1)


def test_texts_tests_and_messages_that_are_sent_again_have_the_same_limit(scene: Scene) -> None:
    scene.most_per_hour = 2
    first, author = scene.subscribe(1), Author(id="token:olga", at=NOON, correlation_id="r", deployment_urls=())
    scene.subscribe(2)
    operator = administration(scene)
    (failed, _) = operator.post(SCOPE, {"text": "hello"}, author, to=None, client_id=None)
    stored = scene.messages.get(SCOPE, failed.message_id)
    assert stored
    assert scene.messages.abandon(stored, at=NOON, error="The receiver returned 500")
    stored = scene.messages.get(SCOPE, failed.message_id)
    assert stored
    for attempt in (
        lambda: operator.test(first, author),
        lambda: operator.post(SCOPE, {"text": "again"}, author, to=None, client_id="x"),
        lambda: operator.send_again(stored, author),
    ):
        with pytest.raises(TooManyMessages):
            attempt()
    assert len(scene.all()) == 2


def test_a_batch_with_many_messages_ends_before_the_time_of_the_router(scene: Scene) -> None:
    """Lambda repeats what a function that ran out of time was given, and the events of others wait meanwhile."""
    scene.subscribe()
    records = [record(scene.publish(number), number) for number in (1, 2, 3)]
    left = iter([True, False])
    response = stream.route(
        records, to=scene.router.route, discard=lambda _: pytest.fail("discarded"), has_time=lambda: next(left)
    )
    assert response == {"batchItemFailures": [{"itemIdentifier": "3"}]}
    assert len(scene.all()) == 2
    assert stream.route(
        records[2:], to=scene.router.route, discard=lambda _: pytest.fail("discarded"), has_time=lambda: False
    ) == {"batchItemFailures": []}
