"""Notifications of many installations: what one of them sends or stores delays no message of another."""

import json

import pytest
from runledger.notifications.administration import Administration, Author
from runledger.notifications.channels.configs import ChannelSettings
from runledger.notifications.filters import LONGEST_VALUE, EventFilter
from runledger.notifications.queue import Entry, Lane, NotificationQueue
from runledger.notifications.secrets import SecretStore
from runledger.tables.receivers import ReceiversTable

from tests.feeds.streams import ALL_TABLES
from tests.functions.conftest import World, world
from tests.notifications.scenes import NOON, SCOPE, TABLE, Scene
from tests.simulation.engine import Engine

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
        channels=ChannelSettings(),
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
        queue.send(Entry(installation_id=scope, message_id=f"m{scope}", dispatch=1, lane=lane), delay_seconds=0)
    received = world.sqs.receive_message(
        QueueUrl=url, MaxNumberOfMessages=10, MessageSystemAttributeNames=["MessageGroupId"]
    )["Messages"]
    groups = {json.loads(each["Body"])["message_id"]: each["Attributes"]["MessageGroupId"] for each in received}
    assert groups == {f"m{scope}": str(scope) for scope in (SCOPE, SCOPE + 1)}


def test_no_caller_can_use_up_the_own_id_of_anothers_text(scene: Scene) -> None:
    scene.subscribe()
    sent = [
        administration(scene).post(
            SCOPE, {"text": text}, Author(id=caller, at=NOON, correlation_id="r"), to=None, own_id=own
        )
        for caller, own, text in (("token:ci", "x#deploy", "decoy"), ("token:ci#x", "deploy", "genuine"))
    ]
    assert len({each.message_id for (each,) in sent}) == 2
