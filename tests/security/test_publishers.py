"""Launchers on the bus report about the installations that the settings allow, in bounds, and about nothing else."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from runledger.runners import publishers
from runledger.runners.publishers import Publishers

from tests.functions.conftest import World
from tests.support.beds import dump, items
from tests.support.ledgers import JOBS
from tests.support.runner_events import ACCOUNT, batch, launcher
from tests.support.webhooks import INSTALLATION

OTHER_ACCOUNT = "999999999999"
PUBLISHERS: list[dict[str, Any]] = [
    {"account": OTHER_ACCOUNT, "source": "team-b.*", "installations": [INSTALLATION]},
    {"account": "888888888888", "source": "*", "installations": "*"},
]


def event(*, account: str = ACCOUNT, source: str = "my.launcher", **detail: Any) -> dict[str, Any]:
    return launcher("runner_scheduled", **detail) | {"account": account, "source": source}


def is_recorded(world: World, published: dict[str, Any]) -> bool:
    failed = world.invoke("scheduling_events", batch(published))["batchItemFailures"]
    recorded = bool(items(world.dynamodb, JOBS))
    assert recorded is not bool(failed)
    return recorded


def test_the_own_account_may_report_about_everything_by_default(world: World) -> None:
    assert is_recorded(world, event(installation_id=99))


def test_another_account_may_report_about_nothing_by_default(world: World) -> None:
    assert not is_recorded(world, event(account=OTHER_ACCOUNT))


@pytest.mark.parametrize(
    ("published", "expected"),
    [
        ({"account": OTHER_ACCOUNT, "source": "team-b.launcher"}, True),
        ({"account": OTHER_ACCOUNT, "source": "team-a.launcher"}, False),
        ({"account": OTHER_ACCOUNT, "source": "team-b.launcher", "installation_id": 99}, False),
        ({"account": "888888888888", "installation_id": 99}, True),
        ({"account": "777777777777"}, False),
        ({"installation_id": 99}, True),
    ],
)
def test_a_publisher_is_limited_to_its_sources_and_installations(
    world: World, monkeypatch: pytest.MonkeyPatch, published: dict[str, Any], expected: bool
) -> None:
    monkeypatch.setenv("EVENT_PUBLISHERS", json.dumps(PUBLISHERS))
    assert is_recorded(world, event(**published)) is expected


def test_an_entry_for_the_own_account_limits_it_too() -> None:
    limited = publishers.parse([{"account": ACCOUNT, "source": "my.launcher", "installations": [1]}])
    allowed = Publishers(own_account=ACCOUNT, entries=limited)
    assert allowed.allowing(account=ACCOUNT, source="my.launcher", installation_id=1) == limited[0]
    assert allowed.allowing(account=ACCOUNT, source="my.launcher", installation_id=2) is None
    assert allowed.allowing(account=ACCOUNT, source="another", installation_id=1) is None


def test_an_entry_for_all_installations_counts_more_than_a_limited_one() -> None:
    entries = publishers.parse([PUBLISHERS[0], PUBLISHERS[0] | {"installations": "*"}])
    allowed = Publishers(own_account=ACCOUNT, entries=entries)
    found = allowed.allowing(account=OTHER_ACCOUNT, source="team-b.x", installation_id=INSTALLATION)
    assert found == entries[1]


def test_what_is_deployed_is_what_was_set() -> None:
    entries = publishers.parse(PUBLISHERS)
    assert publishers.parse(publishers.to_json(entries)) == entries


@pytest.mark.parametrize(
    "detail",
    [
        {"at": "2025-01-16T10:01:01Z"},
        {"at": "2025-01-14T10:00:59Z"},
        {"at": "9999-12-31T23:59:59Z"},
        {"scheduled_at": "2020-01-01T00:00:00Z"},
        {"price_per_hour": 1000.01},
        {"price_per_hour": 0},
        {"price_per_hour": -1},
        {"on_demand_price_per_hour": 1e300},
        {"price_per_hour": True},
    ],
    ids=str,
)
def test_times_and_prices_out_of_bounds_are_rejected_counted_and_change_nothing(
    world: World, capsys: pytest.CaptureFixture[str], detail: dict[str, Any]
) -> None:
    before = dump(world.dynamodb)
    assert not is_recorded(world, event(**detail))
    assert dump(world.dynamodb) == before
    assert '"RejectedEvents":1,' in capsys.readouterr().out


def test_a_rejected_event_is_counted_at_its_first_try_only(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    again = batch(event(account=OTHER_ACCOUNT))
    again["Records"][0]["attributes"] = {"ApproximateReceiveCount": "2"}
    world.invoke("scheduling_events", again)
    assert '"RejectedEvents":0,' in capsys.readouterr().out


@pytest.mark.parametrize("bound", ["2025-01-16T10:01:00Z", "2025-01-14T10:01:00Z"])
def test_times_within_a_day_are_recorded(world: World, bound: str) -> None:
    assert is_recorded(world, event(at=bound, scheduled_at=bound))


def _of_nonsense() -> list[Callable[[dict[str, Any]], object]]:
    return [
        lambda published: published.pop("account"),
        lambda published: published.update(account=None),
        lambda published: published.update(account=[ACCOUNT]),
        lambda published: published.pop("source"),
    ]


@pytest.mark.parametrize("change", _of_nonsense())
def test_an_envelope_without_an_account_reports_about_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch, change: Callable[[dict[str, Any]], object]
) -> None:
    monkeypatch.setenv(
        "EVENT_PUBLISHERS", json.dumps([{"account": ACCOUNT, "source": "my.launcher", "installations": "*"}])
    )
    published = event()
    change(published)
    assert not is_recorded(world, published)
