"""`runledger messages` and `notify`: what they send to the API, and what they print."""

import io
import json
from argparse import Namespace
from datetime import UTC, datetime
from typing import Any

import pytest
from runledger_cli import subscriptions as shared
from runledger_cli.api import Api
from runledger_cli.connection import Connection
from runledger_cli.rendering.style import Style
from runledger_cli.screen import Screen
from runledger_cli.session import Session

from tests.cli.canned_api import TOKEN, CannedApi
from tests.cli.conftest import Cli
from tests.cli.responses import (
    INSTALLATION,
    MESSAGE,
    OTHER_SUBSCRIPTION,
    SUBSCRIPTION,
    message,
    problem,
)

HERE = f"installations/{INSTALLATION}"
FIRST, SECOND = SUBSCRIPTION, OTHER_SUBSCRIPTION
OFF = problem(404, "Not Found", "This deployment has no notifications: the setting notifications turns them on")


pytestmark = pytest.mark.usefixtures("two_subscriptions_exist")


def test_messages_are_filtered_by_the_api_and_shown_with_their_error(api: CannedApi, cli: Cli) -> None:
    failed = message("failed", error_message="The receiver returned 500", retry_count=3, resent_as=SECOND, title="Lint")
    waits = message("processing", next_attempt_at="2025-01-15T10:05:00.000Z", error_message="no route")
    gone = message("completed", subscription_id="0" * 32)
    api.respond(f"GET {HERE}/messages", {"items": [failed, waits, gone], "next_cursor": "next"})
    shown = cli("messages", "--status", "failed", "--type", "job.failed", "--subscription", "Failures", "--since", "7d")
    rows = [line.split() for line in shown.stdout.splitlines()[1:]]
    assert [row[1:4] for row in rows] == [
        ["failed", "job.failed", "Failures"],
        ["retrying", "job.failed", "Failures"],
        ["completed", "job.failed", "deleted"],
    ]
    assert f"3  The receiver returned 500; sent again as {SECOND}" in shown.stdout
    assert rows[0][4] == "Lint"
    assert "--cursor next" in shown.stderr
    wanted = {"status": "failed", "type": "job.failed", "subscription": FIRST, "since": "7d"}
    assert api.requests[-1].query == wanted


def test_one_message_is_shown_with_what_is_sent(api: CannedApi, cli: Cli) -> None:
    found = message("completed", notification_id="n1", payload={"specversion": "1.0", "data": {"x": "\x1b[31m"}})
    api.respond(f"GET {HERE}/messages/{MESSAGE}", found)
    shown = cli("messages", "show", MESSAGE).stdout
    assert "  receiver's id   n1\n" in shown
    assert '    "specversion": "1.0",\n' in shown
    assert "\x1b" not in shown


def test_failed_messages_are_sent_again_each_once(api: CannedApi, cli: Cli) -> None:
    for each in (FIRST, SECOND):
        api.respond(f"POST {HERE}/messages/{each}/send-again", message(resent_from=each))
    assert cli("messages", "send-again", FIRST, SECOND, FIRST).stdout.count(MESSAGE) == 2


def test_a_message_that_cant_be_sent_again_doesnt_stop_the_others(api: CannedApi, cli: Cli) -> None:
    deleted = "The subscription of this message was deleted or is disabled"
    api.respond(f"POST {HERE}/messages/{FIRST}/send-again", problem(409, "Conflict", deleted))
    api.respond(f"POST {HERE}/messages/{SECOND}/send-again", message(resent_from=SECOND))
    done = cli("messages", "send-again", FIRST, SECOND)
    assert (done.returncode, done.stdout) == (1, f"queued  {MESSAGE}\n")
    assert done.stderr == f"runledger: {FIRST}: Conflict: {deleted}\n"


def test_an_error_of_the_api_ends_send_again_and_shows_what_was_sent(api: CannedApi, cli: Cli) -> None:
    api.respond(f"POST {HERE}/messages/{FIRST}/send-again", message(resent_from=FIRST))
    api.respond(f"POST {HERE}/messages/{SECOND}/send-again", problem(429, "Too Many Requests", "try again later"))
    done = cli("messages", "send-again", FIRST, SECOND, MESSAGE)
    assert (done.returncode, done.stdout) == (1, f"queued  {MESSAGE}\n")
    assert "try again later" in done.stderr


def test_the_results_of_several_messages_name_their_subscriptions(api: CannedApi, cli: Cli) -> None:
    sent = [message(), message("failed", subscription_id=SECOND, error_message="HTTP 410 Gone")]
    api.respond(f"POST {HERE}/messages", {"items": sent})
    shown = cli("notify", "Down for maintenance").stdout
    assert shown == f"queued  {MESSAGE}  Failures\nfailed  {MESSAGE}  Digest  HTTP 410 Gone\n"


def test_a_text_goes_to_all_or_to_one_with_its_fields(api: CannedApi, cli: Cli) -> None:
    api.respond(f"POST {HERE}/messages", {"items": [message(message_type="runledger.message")]})
    assert cli("notify", "Down for maintenance").stdout == f"queued  {MESSAGE}\n"
    assert api.requests[-1].body == {"text": "Down for maintenance"}
    cli(
        *("notify", "Deployed", "--title", "Release", "--to", "Failures", "--priority", "4"),
        *("--tag", "rocket", "--url", "https://example.com", "--id", "d1"),
    )
    assert api.requests[-1].body == {
        "text": "Deployed",
        "title": "Release",
        "subscription_id": FIRST,
        "priority": 4,
        "tags": ["rocket"],
        "click_url": "https://example.com",
        "id": "d1",
    }
    assert cli("notify", "-").returncode == 2  # nothing on stdin
    assert cli("notify", "x", "--priority", "6").returncode == 2


def test_without_notifications_the_reason_is_one_line(api: CannedApi, cli: Cli) -> None:
    for route in ("GET {}/subscriptions", "GET {}/messages", "POST {}/messages"):
        api.respond(route.format(HERE), OFF)
    for command in (["subscriptions"], ["messages"], ["notify", "x"]):
        refused = cli(*command)
        assert (refused.returncode, refused.stderr.count("\n")) == (1, 1)
        assert "the setting notifications turns them on" in refused.stderr


def run(api: CannedApi, sent: dict[str, Any], waited: list[float]) -> tuple[int, str]:
    out = io.StringIO()
    session = Session(
        options=Namespace(installation=INSTALLATION),
        connect=lambda: Api(Connection(api_url=api.url, token=TOKEN)),
        screen=Screen(out=out, notes=io.StringIO(), style=Style(now=datetime(2025, 1, 15, tzinfo=UTC))),
        pause=waited.append,
    )
    return shared.report(session, [sent], wait=True), out.getvalue()


@pytest.mark.parametrize(
    ("last", "code"),
    [
        (message("completed"), 0),
        (message("failed", error_message="The receiver returned 410"), 1),
        (message("processing", error_message="no route", next_attempt_at="2025-01-15T10:05:00.000Z"), 1),
    ],
    ids=["completed", "failed", "retrying"],
)
def test_wait_ends_with_the_message_or_its_first_error(api: CannedApi, last: dict[str, Any], code: int) -> None:
    api.respond(f"GET {HERE}/messages/{MESSAGE}", message(), message("processing"), last)
    waited: list[float] = []
    found, shown = run(api, message(), waited)
    assert (found, len(waited)) == (code, 3)
    assert last.get("error_message", "") in shown


def test_wait_ends_when_the_receiver_is_paused(api: CannedApi) -> None:
    api.respond(f"GET {HERE}/messages/{MESSAGE}", message(next_attempt_at="2025-01-15T10:05:00.000Z"))
    waited: list[float] = []
    found, shown = run(api, message(), waited)
    assert (found, len(waited)) == (1, 1)
    assert "the receiver failed before and is paused; next attempt at 2025-01-15 10:05:00" in shown


def test_wait_gives_up_on_a_message_that_never_leaves_the_queue(api: CannedApi) -> None:
    api.respond(f"GET {HERE}/messages/{MESSAGE}", message())
    waited: list[float] = []
    assert run(api, message(), waited) == (1, f"queued  {MESSAGE}\n")
    assert sum(waited) == shared.MAX_WAIT_SECONDS


def test_json_is_the_response(api: CannedApi, cli: Cli) -> None:
    page = {"items": [message()], "next_cursor": None}
    api.respond(f"GET {HERE}/messages", page)
    assert json.loads(cli("messages", "--all", "--json").stdout) == page
    api.respond(f"GET {HERE}/messages/{MESSAGE}", message())
    assert json.loads(cli("messages", "show", MESSAGE, "--json").stdout) == message()
