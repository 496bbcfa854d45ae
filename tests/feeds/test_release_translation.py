"""Events about heads, environments and release lines."""

from collections.abc import Iterable
from itertools import permutations
from typing import Any

import pytest
from runledger.feeds import envelope
from runledger.feeds.events import FeedEvent
from runledger.feeds.translation import translate
from runledger.model.packages import LineKey
from runledger.notifications import payloads
from runledger.notifications.filters import EventFilter
from runledger.tables.release_lines import LinesTable

from tests.feeds.schemas import problems
from tests.feeds.streams import record_changes
from tests.feeds.test_translation import forwarded
from tests.releases.scenes import RELEASES, deployment, empty_engine, ended, run

GREEN, RED = "success", "failure"
LINE = LineKey(7, "@acme/ui", "1.2.3")
PUBLISHED: dict[str, Any] = {
    "repo_full_name": "acme/ui",
    "status": "rebuilding",
    "mode": "enforce",
    "previous_version": "1.2.2",
    "total_dependents": 3,
    "finished_dependents": 0,
    "failed_dependents": 0,
    "published_at": "2026-11-17T10:00:00.000Z",
}
ENDED_AT = "2026-11-17T10:20:00.000Z"


def events_after(changes: Iterable[dict[str, Any]]) -> list[FeedEvent]:
    engine = empty_engine()
    records = record_changes(engine)
    ended(engine, changes)
    return _checked(forwarded(records)[0])


def _checked(events: list[FeedEvent]) -> list[FeedEvent]:
    """Each matches its schema, and can be a message of a subscription."""
    for event in events:
        found = {
            "source": f"/v1/installations/{event.installation_id}",
            "dataschema": envelope.schema_of(event.event_type),
            "type": event.event_type,
            "data": event.payload,
        }
        assert problems(found) == []
        payloads.check(found, installation_id=event.installation_id)
    return events


def types(events: Iterable[FeedEvent]) -> list[str]:
    return [event.event_type for event in events]


def test_a_head_turns_red_and_green_again() -> None:
    found = events_after([run(1, GREEN), run(2, RED), run(3, RED), run(4), run(4, GREEN)])
    assert types(found) == ["head.turned_red", "head.turned_green"]
    red, green = found
    assert (red.occurred_at, red.subject) == ("2026-11-17T10:02:50.000Z", "heads/acme/shop")
    assert (red.payload["run_id"], red.payload["conclusion"], red.payload["head_branch"]) == (2, "failure", "main")
    assert (green.payload["run_id"], green.payload["state"]) == (4, "green")


def test_subscriptions_can_be_for_branches_that_turn_red() -> None:
    (red,) = events_after([run(1, GREEN), run(2, RED)])
    found = {"type": red.event_type, "data": red.payload}
    assert EventFilter(types=("head.turned_*",), branches=("main",), repositories=("acme/*",)).matches(found)
    assert not EventFilter(types=("head.turned_*",), branches=("release/*",)).matches(found)
    assert not EventFilter(types=("head.turned_green",)).matches(found)


def test_the_first_colour_is_news_only_if_it_is_red() -> None:
    assert types(events_after([run(1, GREEN)])) == []
    assert types(events_after([run(1), run(1, RED)])) == ["head.turned_red"]


def test_a_run_that_is_tried_again_turns_nothing_until_it_ends() -> None:
    tried = [run(1, GREEN), run(2, RED), run(2, attempt=2), run(2, "cancelled", attempt=2)]
    assert types(events_after(tried)) == ["head.turned_red"]
    assert types(events_after([*tried, run(2, GREEN, attempt=3)])) == ["head.turned_red", "head.turned_green"]


def test_a_late_run_creates_no_event() -> None:
    assert types(events_after([run(3, GREEN), run(2, RED), run(1, RED)])) == []


def test_in_every_order_a_head_that_ends_red_has_turned_red_last() -> None:
    for order in permutations([run(1, GREEN), run(2, RED), run(3, GREEN), run(4, RED)]):
        found = events_after(order)
        assert types(found)[-1] == "head.turned_red"
        assert len({event.event_id for event in found}) == len(found)


def test_repeated_records_lead_to_the_same_ids() -> None:
    engine = empty_engine()
    records = record_changes(engine)
    ended(engine, [run(1, GREEN), run(2, RED), deployment(1, succeeded_at=1)])
    once, again = (forwarded(records)[0] for _ in range(2))
    assert [event.event_id for event in once] == [event.event_id for event in again]


def test_an_environment_changes_with_its_last_success() -> None:
    found = events_after(
        [
            deployment(1, "a", succeeded_at=1),
            deployment(2, "b"),
            deployment(2, "b", failed_at=2),
            deployment(3, "c", succeeded_at=3),
            deployment(1, "a", succeeded_at=1, inactive_at=3),
            deployment(4, "a", succeeded_at=4, version="1.0"),
        ]
    )
    assert types(found) == ["environment.changed"] * 3
    assert [event.payload["current"]["deployment_id"] for event in found] == [1, 3, 4]
    assert [event.payload["is_rollback"] for event in found] == [False, False, True]
    assert found[2].payload["previous"]["deployment_id"] == 3


def test_a_deployment_that_becomes_active_again_is_news() -> None:
    life = [deployment(1, "a", succeeded_at=1), deployment(2, "b", succeeded_at=2)]
    found = events_after([*life, deployment(1, "a", succeeded_at=5, inactive_at=2)])
    assert [event.payload["current"]["deployment_id"] for event in found] == [1, 2, 1]
    assert len({event.event_id for event in found}) == 3


def test_runs_and_deployments_themselves_are_no_news() -> None:
    """Their tables have events of their own."""
    engine = empty_engine()
    records = record_changes(engine)
    ended(engine, [run(1, GREEN), deployment(1)])
    assert len(records) == 5
    assert forwarded(records)[0] == []


@pytest.mark.parametrize("days", [0, 2, 4])
def test_an_old_head_that_a_lookup_changes_is_no_news(days: int) -> None:
    head = {
        "installation_id": 7,
        "repo_full_name": "acme/shop",
        "branch": "main",
        "is_default_branch": True,
        "workflow_id": 31,
        "state": "red",
        "since": "2026-11-13T10:00:00.000Z",
        "since_run_id": 2,
        "coloured_run_id": 2,
        "last_run": {"run_id": 2},
    }
    found = translate(RELEASES, {}, head, changed_at=f"2026-11-{13 + days:02}T10:00:00.000Z")
    assert types(found) == ([] if days == 4 else ["head.turned_red"])


@pytest.mark.parametrize(
    ("status", "expected"),
    [("completed", "release.completed"), ("failed", "release.failed"), ("rebuilding", None)],
)
def test_a_release_is_published_and_ends(status: str, expected: str | None) -> None:
    engine = empty_engine()
    records = record_changes(engine)
    table = LinesTable(engine, RELEASES, retention_days=90)  # type: ignore[arg-type]
    table.put_line(LINE, PUBLISHED, at=PUBLISHED["published_at"])
    assert table.save(LINE, {"status": status, "finished_dependents": 2, "completed_at": ENDED_AT}, seen=1)
    assert table.save(LINE, {"message": "unchanged status"}, seen=2)
    found = _checked(forwarded(records)[0])
    assert types(found) == ["release.published", *([expected] if expected else [])]
    assert found[0].subject == "releases/@acme/ui/1.2.3"
    assert found[0].payload["previous_version"] == "1.2.2"
    envelope = {"type": found[0].event_type, "data": found[0].payload}
    assert EventFilter(types=("release.*",), repositories=("acme/*",)).matches(envelope)
    if expected:
        assert (found[1].occurred_at, found[1].payload["finished_dependents"]) == (ENDED_AT, 2)
