"""The feed over the API: pages, one event, consumers, posted events, and the roles that each call requires."""

import hashlib
import json
from typing import Any

import boto3
import pytest
from runledger.feeds import queue
from runledger.feeds.events import FeedEvent
from runledger.recording.ledger import Ledger

from tests.api.client import TOKENS, Client, Response, stored
from tests.api.conftest import ELSEWHERE
from tests.feeds import cloud_events
from tests.feeds.streams import Pipeline, some_events, ticking
from tests.functions.conftest import World
from tests.support.memory import engine
from tests.support.webhooks import INSTALLATION, QUEUED, receipt

PATH = f"/v1/installations/{INSTALLATION}/feed"
PUBLISHER = "a-token-of-a-publisher"
UNKNOWN = "0" * 31 + "f"


@pytest.fixture
def feed(world: World, monkeypatch: pytest.MonkeyPatch) -> str:
    """The URL of its queue."""
    url = world.sqs.create_queue(QueueName="feed.fifo", Attributes={"FifoQueue": "true"})["QueueUrl"]
    boto3.client("s3").create_bucket(Bucket="feed-bucket")
    for name, value in {
        "FEED_TABLE": "feed",
        "FEED_RETENTION_DAYS": "30",
        "FEED_QUEUE": url,
        "FEED_TYPES": "job.*,audit.*,run.failed",
        "FEED_BUCKET": "feed-bucket",
        "FEED_POSTS_PER_MINUTE": "20",
    }.items():
        monkeypatch.setenv(name, value)
    return url


@pytest.fixture
def client(feed: str, world: World, api: Client, ledger: Ledger) -> Client:
    """The API of a deployment with a feed, an installation, and a token of a publisher."""
    assert feed
    secret = stored(scoped_to=[ELSEWHERE])
    digest = hashlib.sha256(PUBLISHER.encode()).hexdigest()
    secret["tokens"].append({"name": "paul", "role": "publisher", "sha256": digest, "installations": "*"})
    world.secrets.put_secret_value(SecretId="tokens", SecretString=json.dumps(secret))
    ledger.record(receipt(QUEUED))
    return api


def write(*events: FeedEvent, start_ms: int = 1_736_942_000_000) -> list[FeedEvent]:
    pipeline = Pipeline(engine(), s3=boto3.client("s3"), now=ticking(start_ms))
    writer = pipeline.writer
    object.__setattr__(writer.payloads, "bucket", "feed-bucket")
    writer.write(events)
    return list(events)


def job_events(number: int, kind: str = "job.queued", *, first: int = 0) -> list[FeedEvent]:
    found = some_events(first + number, installation_id=INSTALLATION)[first:]
    return [FeedEvent(**{**_values(each), "event_type": kind}) for each in found]


def _values(event: FeedEvent) -> dict[str, Any]:
    return {name: getattr(event, name) for name in FeedEvent.__dataclass_fields__}


def listed(response: Response) -> list[str]:
    assert response.status == 200, response.body
    return [each["id"] for each in response.body["items"]]


def posted(world: World, url: str) -> list[FeedEvent]:
    messages = world.sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages", [])
    return [event for each in messages for event in queue.read(each["Body"])]


def test_without_the_setting_there_is_no_feed_and_me_shows_it(api: Client, ledger: Ledger) -> None:
    ledger.record(receipt(QUEUED))
    assert api.get("/v1/me").body["feed"] is False
    for path in (PATH, f"{PATH}/{UNKNOWN}", f"{PATH}/consumers", f"{PATH}/consumers/a/events"):
        response = api.get(path)
        assert (response.status, "setting feeds" in response.body["detail"]) == (404, True)
    assert api.post(PATH, {"type": "audit.finished"}).status == 404


def test_events_are_listed_newest_or_oldest_first_and_page_by_page(client: Client) -> None:
    events = write(*job_events(5))
    ids = [each.event_id for each in events]
    assert listed(client.get(PATH)) == ids[::-1]
    assert listed(client.get(PATH, order="oldest")) == ids
    assert client.get("/v1/me").body["feed"] is True
    first = client.get(PATH, order="oldest", limit=2)
    second = client.get(PATH, order="oldest", limit=2, cursor=first.body["next_cursor"])
    assert listed(first) + listed(second) == ids[:4]


def test_after_continues_behind_an_event_and_sees_what_is_written_later(client: Client) -> None:
    first = write(*job_events(2))
    assert listed(client.get(PATH, order="oldest", after=first[-1].event_id)) == []
    later = write(*job_events(2, first=2), start_ms=1_736_942_900_000)
    assert listed(client.get(PATH, order="oldest", after=first[0].event_id)) == [
        *(each.event_id for each in (first[1], *later)),
    ]
    page = client.get(PATH, order="oldest", after=first[0].event_id, limit=2)
    rest = client.get(PATH, order="oldest", after=first[0].event_id, limit=2, cursor=page.body["next_cursor"])
    assert listed(page) + listed(rest) == [each.event_id for each in (first[1], *later)]
    assert client.get(PATH, order="oldest", after=UNKNOWN).status == 404
    assert client.get(PATH, after=first[0].event_id).status == 400


def test_events_are_filtered_by_type_status_and_time_of_writing(client: Client) -> None:
    write(*job_events(3), *job_events(2, "job.failed", first=3))
    failed = client.get(PATH, type="job.failed", order="oldest")
    assert [each["type"] for each in failed.body["items"]] == ["job.failed"] * 2
    assert len(listed(client.get(PATH, status="received"))) == 5
    assert listed(client.get(PATH, status="failed")) == []
    assert len(listed(client.get(PATH, since="2025-01-15T11:53:22Z", order="oldest"))) == 3
    assert client.get(PATH, status="lost").status == 400


def test_an_event_is_a_cloud_event(client: Client) -> None:
    (event,) = write(*job_events(1, "job.failed"))
    response = client.get(f"{PATH}/{event.event_id}")
    read = cloud_events.read(response.body)
    assert (read.get_id(), read.get_type(), read.get_specversion()) == (event.event_id, "job.failed", "1.0")
    assert read.get_dataschema() == "urn:runledger:feed:job:v1"
    assert read.get_data() == event.payload
    assert client.get(f"{PATH}/{UNKNOWN}").status == 404


def test_large_data_is_in_the_event_and_not_in_lists(client: Client) -> None:
    data = {"text": "x" * 70_000}
    (large,) = write(*(FeedEvent(**{**_values(each), "payload": data}) for each in job_events(1)))
    (in_list,) = client.get(PATH).body["items"]
    assert "data" not in in_list
    assert in_list["dataref"] == f"{PATH}/{large.event_id}"
    assert client.get(in_list["dataref"]).body["data"] == data
    cloud_events.read(in_list)


def test_a_consumer_reads_again_what_it_has_not_acknowledged(client: Client) -> None:
    events = write(*job_events(5))
    consumer = f"{PATH}/consumers/pager"
    assert listed(client.get(f"{consumer}/events", limit=2)) == [each.event_id for each in events[:2]]
    assert client.get(f"{consumer}/events", limit=2).body["more"] is True
    assert client.post(f"{consumer}/ack", {"id": events[1].event_id}).status == 200
    assert listed(client.get(f"{consumer}/events")) == [each.event_id for each in events[2:]]
    assert client.get(f"{consumer}/events").body["more"] is False


def test_a_late_acknowledgement_never_moves_a_consumer_back(client: Client) -> None:
    events = write(*job_events(3))
    consumer = f"{PATH}/consumers/pager"
    client.post(f"{consumer}/ack", {"id": events[2].event_id})
    response = client.post(f"{consumer}/ack", {"id": events[0].event_id})
    assert (response.status, response.body["event_id"]) == (200, events[2].event_id)
    assert listed(client.get(f"{consumer}/events")) == []
    assert [each["name"] for each in client.get(f"{PATH}/consumers").body["items"]] == ["pager"]
    assert client.post(f"{consumer}/ack", {"id": UNKNOWN}).status == 404


def test_a_consumer_that_crashes_anywhere_misses_nothing(client: Client) -> None:
    """It may crash after each read and each processed event; it acknowledges after each, or after several."""
    events = write(*job_events(7))
    for acknowledge_every in (1, 2, 3):
        for crash_at in range(8):
            name, processed, crashed = f"c{acknowledge_every}-{crash_at}", list[str](), False
            while items := client.get(f"{PATH}/consumers/{name}/events", limit=3).body["items"]:
                for number, each in enumerate(items, start=1):
                    if len(processed) == crash_at and not crashed:
                        crashed = True
                        break
                    processed.append(each["id"])
                    if number % acknowledge_every == 0 or number == len(items):
                        client.post(f"{PATH}/consumers/{name}/ack", {"id": each["id"]})
            assert list(dict.fromkeys(processed)) == [each.event_id for each in events]


def test_a_publisher_posts_events_and_acknowledges_and_does_nothing_else(
    world: World, feed: str, client: Client
) -> None:
    publisher = client.with_token(PUBLISHER)
    response = publisher.post(PATH, {"type": "audit.finished", "id": "v1", "data": {"version": 1.5}})
    assert response.status == 202
    (sent,) = posted(world, feed)
    assert (sent.event_id, sent.event_type, sent.payload) == (response.body["id"], "audit.finished", {"version": 1.5})
    assert (sent.installation_id, sent.origin, sent.correlation_id) == (INSTALLATION, "api", "a-request")
    assert publisher.get(PATH).status == 200
    assert publisher.post("/admin/reconciliation/run").status == 403
    assert client.with_token(TOKENS["reader"]).post(PATH, {"type": "audit.finished"}).status == 403
    (event,) = write(*job_events(1))
    assert client.with_token(TOKENS["reader"]).post(f"{PATH}/consumers/a/ack", {"id": event.event_id}).status == 403


def test_an_own_id_is_the_same_event_for_the_same_caller_only(client: Client) -> None:
    event = {"type": "audit.finished", "id": "v1"}
    publisher = client.with_token(PUBLISHER)
    first, again, other = publisher.post(PATH, event), publisher.post(PATH, event), client.post(PATH, event)
    assert first.body["id"] == again.body["id"] != other.body["id"]
    without = {"type": "audit.finished"}
    assert client.post(PATH, without).body["id"] != client.post(PATH, without).body["id"]


@pytest.mark.parametrize(
    ("event", "parameter"),
    [
        ({"type": "job.failed"}, "type"),
        ({"type": "Release"}, "type"),
        ({"type": "deploys.done"}, "type"),  # isn't in feed_types
        ({"type": "audit.finished", "data": "x" * 200_000}, "data"),
        ({"type": "audit.finished", "time": "yesterday"}, "time"),
        ({"type": "audit.finished", "id": "x" * 101}, "id"),
        ({"type": "audit.finished", "id": ""}, "id"),
        ({"type": "audit.finished", "subject": "a\nb"}, "subject"),
        ({"type": "audit.finished", "data": float("nan")}, "data"),
    ],
)
def test_an_event_that_is_not_accepted_names_its_field(
    world: World, feed: str, client: Client, event: dict[str, Any], parameter: str
) -> None:
    response = client.post(PATH, event)
    assert response.status == 400
    assert [each["parameter"] for each in response.body["errors"]] == [parameter]
    assert posted(world, feed) == []


def test_a_token_sees_and_changes_only_the_feeds_of_its_installations(world: World, feed: str, client: Client) -> None:
    (event,) = write(*job_events(1))
    limited = client.with_token(TOKENS["scoped"])
    for path in (PATH, f"{PATH}/{event.event_id}", f"{PATH}/consumers", f"{PATH}/consumers/a/events"):
        assert limited.get(path).status == 404
    assert limited.post(PATH, {"type": "audit.finished"}).status == 404
    assert limited.post(f"{PATH}/consumers/a/ack", {"id": event.event_id}).status == 404
    assert posted(world, feed) == []
    # An id of another installation is unknown in one's own.
    engine_ids = f"/v1/installations/{ELSEWHERE}/feed/{event.event_id}"
    assert client.get(engine_ids).status == 404
