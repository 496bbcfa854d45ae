"""Publishers that post what no reader can read, too much of it, or move consumers of others."""

import json
from dataclasses import replace
from typing import Any

import pytest
from runledger.feeds.json_data import MOST_DEPTH
from runledger.platform import logs

from tests.api.client import TOKENS, Client
from tests.api.test_feed import PATH, PUBLISHER, UNKNOWN, client, feed, job_events, listed, posted, write
from tests.feeds import cloud_events
from tests.functions.conftest import World

__all__ = ["client", "feed"]
LARGEST_RESPONSE = 6_000_000  # of Lambda, which escapes the body once more
CONSUMER = f"{PATH}/consumers/pager"


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


def post_text(client: Client, data: str) -> Any:
    return client.request("POST", PATH, body=f'{{"type":"audit.finished","data":{data}}}')


@pytest.mark.parametrize(
    "data",
    [nested(MOST_DEPTH + 1), nested(300), nested(450), '"\\ud800"', '{"\\udfff":1}', '[{"a":{"\\ud800":[]}}]', "1e400"],
)
def test_data_that_no_response_could_contain_is_rejected(world: World, feed: str, client: Client, data: str) -> None:
    response = post_text(client, data)
    assert (response.status, [each["parameter"] for each in response.body["errors"]]) == (400, ["data"])
    assert posted(world, feed) == []


def test_data_of_the_greatest_depth_is_accepted_and_read(world: World, feed: str, client: Client) -> None:
    assert post_text(client, nested(MOST_DEPTH)).status == 202
    write(*posted(world, feed))
    (event,) = client.get(PATH).body["items"]
    assert json.dumps(event["data"]) == nested(MOST_DEPTH)


@pytest.mark.parametrize("data", [nested(300), nested(900), '{"\\ud800":1}'])
def test_an_event_that_is_stored_never_fails_the_page_that_it_is_in(client: Client, data: str) -> None:
    first, bad, last = (replace(each, payload=json.loads(data)) if n == 1 else each for n, each in three())
    write(first, bad, last)
    for path in (PATH, f"{CONSUMER}/events"):
        found = client.get(path, **({"order": "oldest"} if path == PATH else {}))
        assert listed(found) == [first.event_id, bad.event_id, last.event_id]
        read = cloud_events.read(found.body["items"][1])
        assert read.get_data() == data.encode()
    assert client.get(f"{PATH}/{bad.event_id}").status == 200


def three() -> Any:
    return enumerate(job_events(3))


@pytest.mark.parametrize("data", ["\\" * 32_700, [""] * 21_800, "\u00e9" * 10_900], ids=["escapes", "quotes", "ascii"])
def test_no_page_is_larger_than_lambda_can_return_and_all_events_are_read(client: Client, data: Any) -> None:
    events = write(*(replace(each, event_type="release.x", payload=data) for each in job_events(200)))
    ids, sizes, handler = [each.event_id for each in events], list[int](), client.handler

    def measured(event: dict[str, Any], context: Any) -> dict[str, Any]:
        response = handler(event, context)
        sizes.append(len(json.dumps(response)))
        return response

    client, read = replace(client, handler=measured), list[str]()
    while page := listed(client.get(f"{CONSUMER}/events", limit=200)):
        read += page
        client.post(f"{CONSUMER}/ack", {"id": page[-1]})
    assert read == ids
    for query in ({"order": "oldest"}, {"type": "release.x", "order": "newest"}):
        cursor, read = None, []
        while True:
            response = client.get(PATH, **query, limit=200, cursor=cursor)
            read += listed(response)
            if not (cursor := response.body["next_cursor"]):
                break
        assert read == (ids if query["order"] == "oldest" else ids[::-1])
    assert max(sizes) < LARGEST_RESPONSE


def test_posts_of_an_installation_are_limited_by_the_minute(world: World, feed: str, client: Client) -> None:
    statuses = [client.post(PATH, {"type": "audit.finished"}).status for _ in range(22)]
    assert statuses == [202] * 20 + [429] * 2
    assert "20 posts" in client.post(PATH, {"type": "audit.finished"}).body["detail"]
    later = replace(client, now_ms=client.now_ms + 60_000)
    assert later.post(PATH, {"type": "audit.finished"}).status == 202
    assert client.get(PATH).status == 200
    assert len(posted(world, feed)) > 0


def test_a_publisher_moves_only_its_own_consumers_and_an_operator_all(client: Client) -> None:
    events = write(*job_events(4))
    publisher = client.with_token(PUBLISHER)
    assert client.post(f"{CONSUMER}/ack", {"id": events[0].event_id}).status == 200
    refused = publisher.post(f"{CONSUMER}/ack", {"id": events[3].event_id})
    assert (refused.status, "another caller" in refused.body["detail"]) == (403, True)
    assert listed(client.get(f"{CONSUMER}/events")) == [each.event_id for each in events[1:]]
    own = f"{PATH}/consumers/bot"
    for token, number in ((PUBLISHER, 0), (TOKENS["operator"], 1), (PUBLISHER, 2)):
        response = client.with_token(token).post(f"{own}/ack", {"id": events[number].event_id})
        assert (response.status, response.body["event_id"]) == (200, events[number].event_id)


def test_only_an_operator_removes_a_consumer_which_then_starts_again(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", logger=logs.logger.name)
    events = write(*job_events(3))
    publisher = client.with_token(PUBLISHER)
    client.post(f"{CONSUMER}/ack", {"id": events[0].event_id})
    client.post(f"{CONSUMER}/ack", {"id": events[2].event_id})
    assert publisher.request("DELETE", CONSUMER).status == 403
    removed = client.request("DELETE", CONSUMER)
    assert (removed.status, removed.body["event_id"]) == (200, events[2].event_id)
    assert client.request("DELETE", CONSUMER).status == 404
    assert listed(client.get(f"{CONSUMER}/events")) == [each.event_id for each in events]
    assert publisher.post(f"{CONSUMER}/ack", {"id": events[0].event_id}).status == 200
    logged = [vars(each) for each in caplog.records if each.getMessage() == "consumer moved"]
    moves = [(each["position_before"], each["position"]) for each in logged]
    first, _, last = (each.event_id for each in events)
    named = [tuple(position and position.partition("#")[2] for position in move) for move in moves]
    assert named == [(None, first), (first, last), (last, None), (None, first)]


@pytest.mark.parametrize("event_id", ["consumers", "posts", "0" * 31, "F" * 32, "a#b"])
def test_what_is_no_id_of_an_event_is_not_looked_up(client: Client, event_id: str) -> None:
    """The partitions of consumers and posts have the form of a mark."""
    client.post(f"{PATH}/consumers/v/ack", {"id": write(*job_events(1))[0].event_id})
    assert client.post(f"{CONSUMER}/ack", {"id": event_id}).status == 400
    assert client.get(PATH, order="oldest", after=event_id).status == 400
    assert client.get(f"{CONSUMER}/events").body["more"] is False
    assert client.post(f"{CONSUMER}/ack", {"id": UNKNOWN}).status == 404


@pytest.mark.parametrize(
    ("time", "status"),
    [
        ("0001-01-01T00:00:00Z", 400),
        ("1999-12-31T23:59:59Z", 400),
        ("2000-01-01T00:00:00Z", 202),
        ("2025-01-16T11:59:59Z", 202),
        ("2025-01-16T12:00:01Z", 400),
        ("9999-12-31T23:59:59.999Z", 400),
    ],
)
def test_the_time_of_a_posted_event_has_bounds(client: Client, time: str, status: int) -> None:
    assert client.post(PATH, {"type": "audit.finished", "time": time}).status == status


@pytest.mark.parametrize("word", ["job", "jobs", "runs", "approvals", "runners", "deployments", "runledger"])
def test_plurals_of_own_types_are_reserved(client: Client, word: str) -> None:
    assert client.post(PATH, {"type": f"{word}.failed"}).status == 400
