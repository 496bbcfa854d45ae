"""The router: one message for each event and subscription that matches, whatever repeats, fails or crashes."""

from typing import Any

import pytest
from botocore.exceptions import ClientError
from runledger.model import times
from runledger.model.errors import UnavailableError
from runledger.notifications import stream
from runledger.notifications.filters import EventFilter
from runledger.notifications.routing import Routed
from runledger.notifications.subscription_cache import FRESH_SECONDS, SubscriptionCache
from runledger.tables import schema

from tests.notifications.scenes import NOON, SCOPE, TABLE, Scene, event, record


def envelope(kind: str = "job.failed", **data: Any) -> dict[str, Any]:
    return {
        "type": kind,
        "data": {"repo_full_name": "acme/api", "head_branch": "main", "conclusion": "failure", **data},
    }


@pytest.mark.parametrize(
    ("wanted", "matches"),
    [
        (EventFilter(), False),
        (EventFilter(types=("*",)), True),
        (EventFilter(types=("job.*",)), True),
        (EventFilter(types=("job.failed", "run.failed")), True),
        (EventFilter(types=("job.completed",)), False),
        (EventFilter(types=("*",), repositories=("acme/*",)), True),
        (EventFilter(types=("*",), repositories=("ACME/Api",)), True),
        (EventFilter(types=("*",), repositories=("acme/web",)), False),
        (EventFilter(types=("*",), branches=("main", "release/*")), True),
        (EventFilter(types=("*",), branches=("Main",)), False),
        (EventFilter(types=("*",), conclusions=("failure",)), True),
        (EventFilter(types=("*",), conclusions=("success",)), False),
        (EventFilter(types=("*",), repositories=("acme/*",), branches=("dev",)), False),
    ],
)
def test_an_event_matches_if_all_parts_of_the_filter_do(wanted: EventFilter, matches: bool) -> None:
    assert wanted.matches(envelope()) is matches


def test_an_event_without_a_branch_matches_no_filter_for_branches() -> None:
    wanted = EventFilter(types=("*",), branches=("*",))
    assert not wanted.matches({"type": "runner.cleaned", "data": {}})
    assert not wanted.matches({"type": "audit.finished", "data": [1]})


def test_each_matching_subscription_gets_one_message_with_the_event_as_its_payload(scene: Scene) -> None:
    first, second = scene.subscribe(1), scene.subscribe(2)
    scene.subscribe(3, types=("run.*",))
    scene.subscribe(4, enabled=False)
    item = scene.route()
    found = scene.all()
    assert {each["subscription_id"] for each in found} == {first.subscription_id, second.subscription_id}
    for each in found:
        assert (each["status"], each["message_type"], each["created_by"]) == ("queued", "job.failed", "feed")
        assert (each["event_id"], each["correlation_id"], each["retry_count"]) == (item["event_id"], "c1", 0)
        payload = scene.messages.payload(SCOPE, each["message_id"])
        assert payload
        assert (payload["id"], payload["specversion"], payload["data"]["job_id"]) == (item["event_id"], "1.0", 1)
        assert not {"deliverystatus", "retrycount"} & payload.keys()
    assert len(scene.sqs.entries) == 2


def test_a_repeated_event_creates_and_queues_nothing(scene: Scene) -> None:
    scene.subscribe()
    item = scene.route()
    before = scene.all()
    assert scene.router.route(scene.stored_event(item["event_id"])) == Routed()
    assert (scene.all(), len(scene.sqs.entries)) == (before, 1)


def test_the_number_of_messages_of_an_hour_expires_after_two_days(scene: Scene) -> None:
    assert scene.counts.count(SCOPE, 1, at=NOON)
    key = {"PK": {"S": schema.hours_key(SCOPE, schema.ALL)}, "SK": {"S": times.hour_of(NOON)}}
    stored = scene.client.get_item(TableName=TABLE, Key=key)["Item"]
    assert int(stored["ttl"]["N"]) == times.expiry(NOON, 2)


def test_the_limit_of_an_hour_is_exact_however_often_events_are_repeated(scene: Scene) -> None:
    scene.subscribe(at_most_per_hour=2)
    for number in (1, 2, 3, 2, 1, 3):
        scene.router.route(event(number))
    assert len(scene.all()) == 2
    scene.route(3601)  # in the next hour
    assert len(scene.all()) == 3


def test_suppressed_events_are_counted(scene: Scene, capsys: pytest.CaptureFixture[str]) -> None:
    scene.subscribe(at_most_per_hour=1)
    items = [record(event(number), number) for number in (1, 2, 3)]
    assert stream.route(items, to=scene.router.route, discard=lambda _: None) == {"batchItemFailures": []}
    assert '"NotificationsCreated":1,"NotificationsSuppressed":2' in capsys.readouterr().out


def test_a_changed_subscription_is_read_again_after_half_a_minute(scene: Scene) -> None:
    seconds = 0.0
    cache = SubscriptionCache(table=scene.subscriptions, clock=lambda: seconds)
    assert cache.of(SCOPE) == ()
    scene.subscribe()
    seconds = FRESH_SECONDS
    assert cache.of(SCOPE) == ()
    seconds += 1
    assert len(cache.of(SCOPE)) == 1


def test_a_record_that_can_not_be_routed_is_discarded_and_the_others_go_on(scene: Scene) -> None:
    scene.subscribe()
    discarded: list[Any] = []
    broken = event(1) | {"payload": '{"installation_id": 8}'}
    items = [record(broken, 1), record(event(2), 2), record(event(3), 3, name="MODIFY")]
    items.append(record({"PK": "7#x", "SK": "v", "position": "p"}, 4))
    assert stream.route(items, to=scene.router.route, discard=discarded.append) == {"batchItemFailures": []}
    assert discarded == items[:1]
    assert [each["event_id"] for each in scene.all()] == [event(2)["event_id"]]


DENIED = ClientError({"Error": {"Code": "AccessDeniedException"}}, "PutItem")
TOO_LARGE = ClientError({"Error": {"Code": "ValidationException"}}, "PutItem")


@pytest.mark.parametrize("error", [UnavailableError("throttled"), DENIED])
def test_while_a_service_is_away_lambda_repeats_from_the_first_failed_record(scene: Scene, error: Exception) -> None:
    """Also while a permission is missing: discarded events would be lost, and the stream keeps them for a day."""
    scene.subscribe()
    routed: list[str] = []

    def to(item: Any) -> Routed:
        if routed:
            raise error
        routed.append(item["event_id"])
        return Routed(created=1)

    items = [record(event(number), number) for number in (1, 2, 3)]
    response = stream.route(items, to=to, discard=lambda _: pytest.fail("discarded"))
    assert response == {"batchItemFailures": [{"itemIdentifier": "2"}]}


def test_an_event_that_dynamodb_can_not_store_is_discarded() -> None:
    discarded: list[Any] = []

    def to(_item: Any) -> Routed:
        raise TOO_LARGE

    items = [record(event(1), 1)]
    assert stream.route(items, to=to, discard=discarded.append) == {"batchItemFailures": []}
    assert discarded == items


def test_an_event_over_64_kb_is_sent_with_its_address(scene: Scene) -> None:
    scene.subscribe(types=("audit.*",))
    item = event(1, event_type="audit.finished")
    item.pop("payload")
    scene.router.route(item | {"payload_key": "feed/7/x.json"})
    (message,) = scene.all()
    payload = scene.messages.payload(SCOPE, message["message_id"])
    assert payload
    assert payload["dataref"] == f"/v1/installations/{SCOPE}/feed/{item['event_id']}"
    assert message["created_at"] == NOON


def test_an_event_that_was_written_before_the_subscription_is_not_sent(scene: Scene) -> None:
    """The router may be hours behind the feed."""
    scene.subscribe(1, created_at=event(2)["occurred_at"])
    for number in (1, 2, 3):
        scene.route(number)
    assert {each["event_id"] for each in scene.all()} == {event(2)["event_id"], event(3)["event_id"]}
