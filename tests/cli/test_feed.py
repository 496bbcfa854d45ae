"""`runledger tail` on a deployment with an event feed, and without one."""

import io
import json
from argparse import Namespace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from runledger_cli.api import Api
from runledger_cli.commands import tail
from runledger_cli.connection import Connection
from runledger_cli.errors import ApiError
from runledger_cli.rendering.feed import feed_line
from runledger_cli.rendering.style import Style
from runledger_cli.screen import Screen
from runledger_cli.session import Session

from tests.cli.canned_api import TOKEN, CannedApi
from tests.cli.responses import event, problem

FEED, EVENTS = "GET installations/7/feed", "GET installations/7/events"


class Enough(Exception):
    """The user presses Ctrl-C."""


def run(api: CannedApi, *, polls: int, as_json: bool = False, history: bool = False) -> list[str]:
    out, left = io.StringIO(), [polls]

    def pause(_: float) -> None:
        left[0] -= 1
        if not left[0]:
            raise Enough

    session = Session(
        options=Namespace(installation=7, since="1m", interval=2.0, history=history),
        connect=lambda: Api(Connection(api_url=api.url, token=TOKEN)),
        screen=Screen(
            out=out, notes=io.StringIO(), as_json=as_json, style=Style(now=datetime(2025, 1, 15, tzinfo=UTC), zone=UTC)
        ),
        pause=pause,
    )
    with pytest.raises(Enough):
        tail.follow(session)
    return out.getvalue().splitlines()


def fed(number: int, kind: str = "job.failed", **data: Any) -> dict[str, Any]:
    about = {"repo_full_name": "acme/storefront", "job_name": "build", "conclusion": "failure"}
    time = f"2025-01-15T10:00:0{number}.000Z"
    return {"id": f"e{number}", "type": kind, "subject": f"jobs/{number}", "time": time, "data": about | data}


def page(*events: dict[str, Any], more: bool = False) -> dict[str, Any]:
    return {"items": list(events), "next_cursor": "a-cursor" if more else None}


def test_tail_shows_the_feed_and_continues_after_the_last_event(api: CannedApi) -> None:
    api.respond(
        FEED,
        page(fed(9)),
        page(fed(1), more=True),
        problem(503, "Service Unavailable", "throttled"),
        page(fed(2, "job.queued", conclusion=None)),
        page(),
    )
    lines = run(api, polls=3)
    assert lines == [
        "2025-01-15 10:00:01.000Z  jobs/1  job.failed  acme/storefront, build, failure",
        "2025-01-15 10:00:02.000Z  jobs/2  job.queued  acme/storefront, build",
    ]
    assert [each.query.get("after") for each in api.requests] == [None, None, "e1", "e1", "e2"][: len(api.requests)]


def test_tail_without_recent_events_continues_after_the_newest_one_of_its_start(api: CannedApi) -> None:
    """An age such as 1m moves with each request, so it can't mark where the next one starts."""
    api.respond(FEED, page(fed(0)), page(), page(fed(3)), page())
    assert len(run(api, polls=3, as_json=True)) == 1
    assert [each.query.get("after") for each in api.requests][:3] == [None, None, "e0"]


def test_tail_prints_events_as_json_lines(api: CannedApi) -> None:
    api.respond(FEED, page(), page(fed(1)), page())
    assert [json.loads(line) for line in run(api, polls=1, as_json=True)] == [fed(1)]


@pytest.mark.parametrize("history", [False, True])
def test_tail_shows_the_histories_without_a_feed_or_on_request(api: CannedApi, *, history: bool) -> None:
    if history:
        api.respond(FEED, page(fed(1)))
    api.respond(EVENTS, {"items": [event("webhook_queued", "2025-01-15T10:00:00.000Z")], "next_since": "x"})
    assert "webhook_queued" in run(api, polls=1, history=history)[0]


def test_an_error_other_than_a_missing_feed_is_reported(api: CannedApi) -> None:
    api.respond(FEED, problem(403, "Forbidden", "no"))
    with pytest.raises(ApiError):
        run(api, polls=1)


@pytest.mark.parametrize("value", [["x"], {"a": 1}, {"toString": 1}, 5, True, "\x1b[31m\u202e"])
@pytest.mark.parametrize("name", ["repo_full_name", "environment", "conclusion"])
def test_hostile_data_of_a_posted_event_never_ends_tail(api: CannedApi, name: str, value: object) -> None:
    posted = fed(1, "audit.finished", **{name: value}) | {"origin": "api", "subject": "jobs/1"}
    hostile: dict[str, Any] = {name: value}
    api.respond(FEED, page(), page(posted, posted | {"data": [value]}, fed(2, **hostile)), page())
    first, second, third = run(api, polls=1)
    assert "jobs/1  audit.finished (posted)" in first
    assert "build" not in first
    assert second.endswith("audit.finished (posted)")
    assert "jobs/2  job.failed" in third
    assert "\x1b" not in first + third


@pytest.mark.parametrize("time", ["0001-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z", "x"])
@pytest.mark.parametrize("hours", [-5, 5])
def test_a_time_at_the_end_of_the_calendar_is_shown_as_it_is(time: str, hours: int) -> None:
    style = Style(now=datetime(2025, 1, 15, tzinfo=UTC), zone=timezone(timedelta(hours=hours)))
    assert feed_line(style, fed(1) | {"time": time})
