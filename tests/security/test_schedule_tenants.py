"""Schedules of many installations: the digests of one delay no digest of another."""

from collections.abc import Callable
from typing import Any

import pytest
from runledger.notifications.digest import Period
from runledger.notifications.schedules import Every, Schedule
from runledger.notifications.scheduling import DIGEST_SECONDS, Schedules, SchedulesFailed

from tests.feeds.streams import ALL_TABLES
from tests.notifications.scenes import NOON, SCOPE, Scene
from tests.simulation.engine import Engine

LONG_AGO = "2025-01-01T00:00:00.000Z"
VICTIM = SCOPE + 1
# Of a tick, for schedules.
TICK_SECONDS = 210


@pytest.fixture
def scene() -> Scene:
    return Scene(Engine(ALL_TABLES))


class SlowDigests:
    """Those of the first installation read for as long as they may."""

    def __init__(self, scene: Scene) -> None:
        self.scene, self.reads = scene, list[int]()

    def read(
        self, installation_id: int, period: Period, *, repo_full_name: str | None, has_time: Callable[[], bool]
    ) -> dict[str, Any]:
        self.reads.append(installation_id)
        while installation_id == SCOPE and has_time():
            self.scene.clock.advance(1)
        return {"installation_id": installation_id, "since": period.since, "repository": repo_full_name}


def subscribe(scene: Scene, number: int, *, scope: int = SCOPE, hour: int = 12, **changes: Any) -> None:
    schedule = Schedule(every=Every.DAY, hour=hour)
    scene.subscribe(number, types=(), installation_id=scope, schedule=schedule, schedule_since=LONG_AGO, **changes)


def tick(scene: Scene, digests: SlowDigests) -> int:
    end = scene.clock.seconds() + TICK_SECONDS
    found = Schedules(
        subscriptions=scene.subscriptions, outbox=scene.outbox, digests=digests, clock=scene.clock.seconds
    )
    return found.run(has_time=lambda: scene.clock.seconds() < end)


def sent(scene: Scene, scope: int) -> int:
    return sum(each["installation_id"] == scope for each in scene.all())


def test_a_hundred_large_digests_of_one_installation_delay_no_digest_of_another(scene: Scene) -> None:
    """One for each repository. In the order of the installations, they would take more hours than a digest is kept."""
    for number in range(1, 101):
        subscribe(scene, number, repositories=(f"acme/{number}",))
    subscribe(scene, 200, scope=VICTIM)
    digests = SlowDigests(scene)
    tick(scene, digests)
    assert sent(scene, VICTIM) == 1
    assert digests.reads[:2] == [SCOPE, VICTIM]


def test_one_digest_takes_a_limited_time_of_a_tick(scene: Scene) -> None:
    subscribe(scene, 1)
    tick(scene, SlowDigests(scene))
    assert scene.clock.seconds() == DIGEST_SECONDS


def test_subscriptions_of_the_same_digest_share_one_read(scene: Scene) -> None:
    for number in range(1, 101):
        subscribe(scene, number)
    digests = SlowDigests(scene)
    assert tick(scene, digests) == 100
    assert digests.reads == [SCOPE]


def test_a_subscription_that_cannot_be_read_delays_no_other(scene: Scene) -> None:
    """A newer release may have written it, before a rollback."""
    subscribe(scene, 1)
    stored = scene.subscriptions.get(SCOPE, f"{1:032x}")
    assert stored
    assert scene.subscriptions.replace(stored | {"kind": "pigeon", "version": 2}, read_version=1)
    subscribe(scene, 2, scope=VICTIM)
    with pytest.raises(SchedulesFailed):
        tick(scene, SlowDigests(scene))
    assert sent(scene, VICTIM) == 1
    assert scene.clock.now == NOON
