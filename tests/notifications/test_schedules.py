"""Digests and reminders: once for each occurrence, in the time zone of the subscription, and none for the past."""

from dataclasses import replace
from typing import Any

import pytest
from runledger.notifications.administration import Administration
from runledger.notifications.digest import Period
from runledger.notifications.messages import Author
from runledger.notifications.schedules import Content, Every, Schedule, Weekday
from runledger.notifications.scheduling import LATEST_SECONDS, Schedules, SchedulesFailed
from runledger.notifications.secrets import SecretStore

from tests.feeds.streams import ALL_TABLES
from tests.notifications.scenes import NOON, SCOPE, Scene
from tests.simulation.engine import Engine
from tests.support.channels import channel_settings

LONG_AGO = "2025-01-01T00:00:00.000Z"


class Digests:
    """Returns its arguments instead of figures."""

    def __init__(self, *, failures: int = 0) -> None:
        self.failures = failures

    def read(self, installation_id: int, period: Period, **options: Any) -> dict[str, Any]:
        if self.failures:
            self.failures -= 1
            raise RuntimeError("a query failed")
        arguments = {"installation_id": installation_id, "since": period.since, "until": period.until}
        return arguments | {"repository": options["repo_full_name"]}


def schedules(scene: Scene, digests: Digests | None = None) -> Schedules:
    return Schedules(
        subscriptions=scene.subscriptions, outbox=scene.outbox, digests=digests or Digests(), clock=scene.clock.seconds
    )


def subscribe(
    scene: Scene, number: int = 1, *, since: str = LONG_AGO, repositories: tuple[str, ...] = (), **schedule: Any
) -> None:
    made = replace(Schedule(every=Every.DAY, hour=12), **schedule)
    scene.subscribe(number, types=(), schedule=made, schedule_since=since, repositories=repositories)


@pytest.mark.parametrize(
    ("schedule", "now", "occurrence"),
    [
        (Schedule(every=Every.DAY, hour=9), "2025-01-15T09:00:00.000Z", "2025-01-15T09:00:00.000Z"),
        (Schedule(every=Every.DAY, hour=9), "2025-01-15T08:59:59.999Z", "2025-01-14T09:00:00.000Z"),
        (
            Schedule(every=Every.DAY, hour=9, timezone="Europe/Berlin"),
            "2025-07-15T12:00:00.000Z",
            "2025-07-15T07:00:00.000Z",
        ),
        (
            Schedule(every=Every.DAY, hour=9, timezone="Asia/Kolkata"),
            "2025-01-15T03:31:00.000Z",
            "2025-01-15T03:30:00.000Z",
        ),
        (Schedule(every=Every.WEEK, hour=9), "2025-01-15T12:00:00.000Z", "2025-01-13T09:00:00.000Z"),
        (
            Schedule(every=Every.WEEK, hour=9, weekday=Weekday.FRIDAY),
            "2025-01-15T12:00:00.000Z",
            "2025-01-10T09:00:00.000Z",
        ),
        (
            Schedule(every=Every.WEEK, hour=13, weekday=Weekday.WEDNESDAY),
            "2025-01-15T12:00:00.000Z",
            "2025-01-08T13:00:00.000Z",
        ),
        # The clocks of Berlin go from two to three.
        (
            Schedule(every=Every.DAY, hour=2, timezone="Europe/Berlin"),
            "2025-03-30T12:00:00.000Z",
            "2025-03-30T01:00:00.000Z",
        ),
        # From three back to two: the second time isn't another occurrence.
        (
            Schedule(every=Every.DAY, hour=2, timezone="Europe/Berlin"),
            "2025-10-26T01:30:00.000Z",
            "2025-10-26T00:00:00.000Z",
        ),
    ],
)
def test_an_occurrence_is_at_the_full_hour_of_the_time_zone(schedule: Schedule, now: str, occurrence: str) -> None:
    assert schedule.last_due(now) == occurrence


def test_each_hour_of_a_year_has_the_same_occurrence_until_the_next() -> None:
    """Also when the clocks change: an occurrence is never skipped or repeated."""
    schedule, scene = Schedule(every=Every.DAY, hour=2, timezone="America/New_York"), Scene(Engine(ALL_TABLES))
    found = list[str]()
    for _ in range(24 * 366):
        scene.clock.advance(3600)
        found.append(schedule.last_due(scene.clock()))
    assert found == sorted(found)
    assert 366 <= len(set(found)) <= 368


def test_a_digest_is_created_once_however_often_the_tick_comes(scene: Scene) -> None:
    subscribe(scene)
    assert [schedules(scene).run() for _ in range(3)] == [1, 0, 0]
    (message,) = scene.all()
    assert (message["message_type"], message["created_by"], message["status"]) == (
        *("runledger.digest", "schedules"),
        "queued",
    )
    payload = scene.messages.payload(SCOPE, message["message_id"])
    assert payload
    assert (payload["data"]["since"], payload["data"]["until"]) == ("2025-01-14T12:00:00.000Z", NOON)
    assert payload["data"]["repository"] is None
    scene.clock.advance(86_400)
    assert schedules(scene).run() == 1
    assert len(scene.all()) == 2


@pytest.mark.parametrize(
    ("repositories", "only"), [(("acme/api",), "acme/api"), (("acme/*",), None), (("acme/api", "acme/web"), None)]
)
def test_a_digest_of_one_repository_is_about_that_one(
    scene: Scene, repositories: tuple[str, ...], only: str | None
) -> None:
    subscribe(scene, every=Every.WEEK, weekday=Weekday.WEDNESDAY, repositories=repositories)
    assert schedules(scene).run() == 1
    payload = scene.messages.payload(SCOPE, scene.all()[0]["message_id"])
    assert payload
    assert (payload["data"]["repository"], payload["data"]["since"]) == (only, "2025-01-08T12:00:00.000Z")


def test_a_reminder_has_the_text_of_the_subscription(scene: Scene) -> None:
    subscribe(scene, content=Content.REMINDER, text="Review the runner images")
    assert schedules(scene).run() == 1
    (message,) = scene.all()
    payload = scene.messages.payload(SCOPE, message["message_id"])
    assert payload
    assert payload["type"] == "runledger.reminder"
    assert payload["data"] == {"title": "subscription 1", "text": "Review the runner images"}


def test_nothing_is_due_before_the_schedule_was_made_or_long_after(scene: Scene) -> None:
    subscribe(scene, 1, since="2025-01-15T12:00:00.001Z")
    subscribe(scene, 2, hour=5)
    scene.subscribe(3)
    scene.subscribe(4, enabled=False, schedule=Schedule(every=Every.DAY, hour=12), schedule_since=LONG_AGO)
    assert schedules(scene).run() == 0
    scene.clock.advance(-(7 * 3600 - LATEST_SECONDS))
    assert schedules(scene).run() == 1


def test_what_was_due_while_the_subscription_was_disabled_is_not_sent_later(scene: Scene) -> None:
    subscribe(scene, hour=11)
    administration = Administration(
        subscriptions=scene.subscriptions,
        receivers=scene.receivers.table,
        secrets=SecretStore(client=None, prefix="none/"),
        outbox=scene.outbox,
        channels=channel_settings(),
        counts=scene.counts,
    )

    def set_enabled(enabled: bool, at: str) -> None:
        (found,) = administration.all(SCOPE)
        author = Author(id="token:olga", at=at, correlation_id="r1", deployment_urls=())
        administration.change(found, {"enabled": enabled}, author)

    set_enabled(False, "2025-01-15T10:00:00.000Z")
    assert schedules(scene).run() == 0
    set_enabled(True, NOON)
    assert schedules(scene).run() == 0
    set_enabled(True, NOON)  # no change
    scene.clock.advance(23 * 3600)
    assert schedules(scene).run() == 1


def test_a_digest_that_fails_delays_no_other_and_is_tried_at_the_next_tick(scene: Scene) -> None:
    for number in (1, 2):
        subscribe(scene, number)
    with pytest.raises(SchedulesFailed, match="1 schedules failed"):
        schedules(scene, Digests(failures=1)).run()
    assert len(scene.all()) == 1
    assert schedules(scene).run() == 1


def test_without_time_the_next_tick_continues(scene: Scene) -> None:
    subscribe(scene)
    assert schedules(scene).run(has_time=lambda: False) == 0
    assert schedules(scene).run() == 1
