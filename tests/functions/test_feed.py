"""The functions of the feed, and what the reconciler sends to it."""

import json
from typing import Any

import pytest
from runledger.feeds import queue
from runledger.feeds.events import FeedEvent

from tests.feeds.streams import feed_of, ids, record_changes, some_events, some_id
from tests.functions.conftest import World
from tests.functions.test_forgotten_approvals import deployment, wait
from tests.support.memory import engine
from tests.support.reconciler_scene import Scene, ago, queued
from tests.support.webhooks import INSTALLATION, QUEUED, http_event, payload


@pytest.fixture
def feed(world: World, monkeypatch: pytest.MonkeyPatch) -> str:
    """The URL of its queue."""
    url = world.sqs.create_queue(QueueName="feed.fifo", Attributes={"FifoQueue": "true"})["QueueUrl"]
    for name, value in {
        "FEED_TABLE": "feed",
        "FEED_RETENTION_DAYS": "30",
        "FEED_BUCKET": "b",
        "FEED_QUEUE": url,
        "FEED_STREAM_DEAD_LETTERS": world.sqs.create_queue(QueueName="feed-dead-letters")["QueueUrl"],
    }.items():
        monkeypatch.setenv(name, value)
    return url


def sent(world: World, url: str) -> list[FeedEvent]:
    """Read and deleted, so that the next message of the group is visible."""
    found: list[FeedEvent] = []
    while messages := world.sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages", []):
        for each in messages:
            found += queue.read(each["Body"])
            world.sqs.delete_message(QueueUrl=url, ReceiptHandle=each["ReceiptHandle"])
    return found


def message(number: int, group: int, body: str) -> dict[str, Any]:
    return {
        "messageId": f"m{number}",
        "body": body,
        "eventSource": "aws:sqs",
        "attributes": {"MessageGroupId": str(group)},
    }


def test_a_webhook_reaches_the_feed_through_its_functions(world: World, feed: str) -> None:
    records = record_changes(engine())
    world.invoke("webhook_intake", http_event(json.dumps(payload(QUEUED)).encode()))
    assert world.invoke("feed_stream", {"Records": records}) == {"batchItemFailures": []}
    (event,) = sent(world, feed)
    assert (event.installation_id, event.event_type) == (INSTALLATION, "job.queued")
    (body,) = queue.bodies([event])
    batch = {"Records": [message(1, INSTALLATION, body)]}
    for _ in range(2):
        assert world.invoke("feed_writer", batch) == {"batchItemFailures": []}
    assert ids(feed_of(engine(), INSTALLATION)) == [event.event_id]


def test_intake_sends_nothing_to_the_feed(world: World, feed: str) -> None:
    world.invoke("webhook_intake", http_event(json.dumps(payload(QUEUED)).encode()))
    assert sent(world, feed) == []


def test_while_the_queue_is_away_lambda_repeats_the_whole_batch(world: World, feed: str) -> None:
    records = record_changes(engine())
    world.invoke("webhook_intake", http_event(json.dumps(payload(QUEUED)).encode()))
    world.sqs.delete_queue(QueueUrl=feed)
    response = world.invoke("feed_stream", {"Records": records})
    assert response == {"batchItemFailures": [{"itemIdentifier": records[0]["dynamodb"]["SequenceNumber"]}]}


def test_after_a_failed_message_its_installation_waits_and_others_go_on(world: World, feed: str) -> None:
    assert feed
    (first,) = queue.bodies(some_events(2, installation_id=1))
    (other,) = queue.bodies(some_events(2, installation_id=2))
    response = world.invoke(
        "feed_writer",
        {"Records": [message(1, 1, '{"events": 7}'), message(2, 1, first), message(3, 2, other)]},
    )
    assert [each["itemIdentifier"] for each in response["batchItemFailures"]] == ["m1", "m2"]
    assert ids(feed_of(engine(), 1)) == []
    assert ids(feed_of(engine(), 2)) == [some_id(2, 0), some_id(2, 1)]


def test_a_stuck_job_is_sent_by_each_pass_under_the_same_id(scene: Scene, feed: str) -> None:
    queued(scene, 1)
    scene.reconcile()
    first = [each for each in sent(scene.world, feed) if each.event_type == "job.stuck"]
    scene.reconcile()
    again = [each for each in sent(scene.world, feed) if each.event_type == "job.stuck"]
    assert len(first) == 1
    assert [each.event_id for each in again] == [each.event_id for each in first]
    assert first[0].payload["stuck_since"] <= first[0].occurred_at


def test_without_the_queue_a_pass_goes_on_and_counts_an_error(scene: Scene, feed: str) -> None:
    scene.world.sqs.delete_queue(QueueUrl=feed)
    queued(scene, 1)
    report = scene.reconcile()
    assert report["summary"]["runners_requested"] == 1
    assert report["summary"]["errors"] >= 1


def test_a_job_that_waits_for_an_approval_is_not_sent_as_stuck(scene: Scene, feed: str) -> None:
    deployment(scene, "waiting")
    wait(scene, 1, created_at=ago(hours=30))
    scene.reconcile()
    assert {each.event_type for each in sent(scene.world, feed)} == {"approval.forgotten"}


def test_a_forgotten_approval_is_counted_although_the_feed_is_out_of_reach(scene: Scene, feed: str) -> None:
    deployment(scene, "waiting")
    wait(scene, 1, created_at=ago(hours=30))
    scene.world.sqs.delete_queue(QueueUrl=feed)
    response = scene.reconcile()
    assert response["summary"]["forgotten_approvals"] == 1
    assert "the feed" in response["text"]
