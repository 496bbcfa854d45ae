"""`runledger subscriptions`, `messages` and `notify`: what they send to the API, and what they print."""

import io
import json
from argparse import Namespace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from runledger_cli import subscriptions as shared
from runledger_cli.api import Api
from runledger_cli.connection import Connection
from runledger_cli.rendering.style import Style
from runledger_cli.screen import Screen
from runledger_cli.session import Session

from tests.cli.canned_api import TOKEN, Asked, CannedApi
from tests.cli.conftest import Ask
from tests.cli.responses import INSTALLATION, MESSAGE, SUBSCRIPTION, message, problem, subscription

HERE = f"installations/{INSTALLATION}"
FIRST, SECOND = SUBSCRIPTION, "a1c3" + "0" * 28
OFF = problem(404, "Not Found", "This deployment has no notifications: the setting notifications turns them on")


@pytest.fixture(autouse=True)
def _two_subscriptions(api: CannedApi) -> None:
    other = subscription(
        SECOND,
        "Digest",
        enabled=False,
        types=[],
        at_most_per_hour=5,
        branches=["main"],
        schedule={"every": "weekly", "hour": 9, "weekday": "friday", "timezone": "UTC"},
    )
    api.respond(f"GET {HERE}/subscriptions", {"items": [subscription(), other], "next_cursor": None})


def test_subscriptions_are_listed_with_their_health_and_rules(ask: Ask) -> None:
    head, first, second = ask("subscriptions", "--utc").stdout.splitlines()
    assert head.split() == ["SUBSCRIPTION", "NAME", "CHANNEL", "HEALTH", "LAST", "SUCCESS", "SENDS"]
    assert first.split()[:3] == [FIRST, "Failures", "slack"]
    assert first.endswith("healthy   2025-01-15 11:00:00Z  job.failed, job.stuck")
    assert second.endswith("on main; at most 5 an hour; digest weekly on friday at 09:00 UTC")
    assert "disabled" in second


@pytest.mark.parametrize("given", ["Failures", FIRST, FIRST[:4]])
def test_a_subscription_is_found_by_its_name_its_id_or_its_beginning(api: CannedApi, ask: Ask, given: str) -> None:
    api.respond(f"POST {HERE}/subscriptions/{FIRST}/test", message(message_type="runledger.test"))
    assert ask("subscriptions", "test", given).stdout == f"queued  {MESSAGE}\n"


@pytest.mark.parametrize(("given", "code", "text"), [("Fail", 1, "Failures, Digest"), ("a1", 1, "no subscription")])
def test_a_subscription_that_isnt_found_is_an_error(ask: Ask, given: str, code: int, text: str) -> None:
    refused = ask("subscriptions", "test", given)
    assert (refused.returncode, text in refused.stderr) == (code, True)


def test_a_name_that_two_subscriptions_have_needs_an_id(api: CannedApi, ask: Ask) -> None:
    same = [subscription(), subscription(SECOND)]
    api.respond(f"GET {HERE}/subscriptions", {"items": same, "next_cursor": None})
    refused = ask("subscriptions", "enable", "Failures")
    assert (refused.returncode, FIRST in refused.stderr, SECOND in refused.stderr) == (2, True, True)


def test_a_webhook_is_created_and_its_secret_is_the_only_line_on_stdout(api: CannedApi, ask: Ask) -> None:
    api.respond(f"POST {HERE}/subscriptions", subscription(kind="webhook", secret="whsec_x"))
    shown = ask(
        *("subscriptions", "create", "Failures", "--kind", "webhook", "--url", "https://example.com/h"),
        *("--type", "job.*", "--type", "run.failed", "--branch", "main", "--at-most", "20"),
        *("--weekly", "Friday", "--hour", "16", "--timezone", "Europe/Berlin"),
    )
    assert (shown.returncode, shown.stdout) == (0, "whsec_x\n")
    assert api.asked[-1].body == {
        "name": "Failures",
        "kind": "webhook",
        "config": {"url": "https://example.com/h"},
        "types": ["job.*", "run.failed"],
        "branches": ["main"],
        "at_most_per_hour": 20,
        "schedule": {
            "every": "weekly",
            "weekday": "friday",
            "hour": 16,
            "timezone": "Europe/Berlin",
            "content": "digest",
        },
    }


def test_edit_sends_what_is_given_and_keeps_the_other_fields_of_the_channel(api: CannedApi, ask: Ask) -> None:
    known = subscription(kind="ntfy", config={"url": "https://ntfy.sh/old", "priority": 4})
    api.respond(f"GET {HERE}/subscriptions", {"items": [known], "next_cursor": None})
    api.respond(f"PATCH {HERE}/subscriptions/{FIRST}", known)
    options = ("--url", "https://ntfy.sh/new", "--type", "run.failed", "--repo", "acme/*", "--clear", "branch")
    shown = ask("subscriptions", "edit", "Failures", *options, "--clear", "at-most", "--clear", "schedule")
    assert (shown.returncode, shown.stderr) == (0, f"changed Failures ({FIRST})\n")
    assert api.asked[-1].body == {
        "config": {"url": "https://ntfy.sh/new", "priority": 4},
        "types": ["run.failed"],
        "repositories": ["acme/*"],
        "branches": [],
        "at_most_per_hour": None,
        "schedule": None,
    }


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ((), "nothing to change"),
        (("--branch", "main", "--clear", "branch"), "--clear branch contradicts the new value"),
        (("--clear", "type"), "invalid choice"),
        (("--hour", "8"), "--hour requires --daily or --weekly"),
    ],
)
def test_an_edit_that_makes_no_sense_changes_nothing(
    api: CannedApi, ask: Ask, options: tuple[str, ...], text: str
) -> None:
    refused = ask("subscriptions", "edit", "Failures", *options)
    assert (refused.returncode, text in refused.stderr) == (2, True)
    assert all(each.method == "GET" for each in api.asked)


def test_a_secret_comes_from_a_file_and_never_from_an_option(api: CannedApi, ask: Ask, tmp_path: Path) -> None:
    file = tmp_path / "url"
    file.write_text("https://hooks.slack.com/services/x\n")
    api.respond(f"POST {HERE}/subscriptions", subscription())
    shown = ask(
        "subscriptions", "create", "Failures", "--kind", "slack", "--type", "job.failed", "--secret-file", str(file)
    )
    assert (shown.returncode, shown.stdout) == (0, "")
    assert api.asked[-1].body["secret"] == "https://hooks.slack.com/services/x"
    assert "secret" not in api.asked[-1].body["config"]
    before = len(api.asked)
    refused = ask("subscriptions", "create", "Failures", "--kind", "slack", "--type", "job.failed")
    assert (refused.returncode, "--secret-file" in refused.stderr, len(api.asked)) == (2, True, before)
    missing = ask("subscriptions", "create", "F", "--kind", "slack", "--secret-file", str(tmp_path / "missing"))
    assert (missing.returncode, "cannot read" in missing.stderr) == (2, True)


def test_relaunch_leaves_its_type_to_the_api_and_takes_further_fields(api: CannedApi, ask: Ask, tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text("s")
    api.respond(f"POST {HERE}/subscriptions", subscription(kind="relaunch"))
    options = ("--url", "https://launcher.example/hook", "--secret-file", str(file))
    ask("subscriptions", "create", "Launcher", "--kind", "relaunch", *options, "--config", '{"owner_type": "User"}')
    body = api.asked[-1].body
    assert body["config"] == {"url": "https://launcher.example/hook", "owner_type": "User"}
    assert "types" not in body
    assert ask("subscriptions", "create", "x", "--kind", "sns", "--config", "[1]").returncode == 2


@pytest.mark.parametrize(("action", "enabled"), [("enable", True), ("disable", False)])
def test_a_subscription_is_enabled_and_disabled(api: CannedApi, ask: Ask, action: str, *, enabled: bool) -> None:
    api.respond(f"PATCH {HERE}/subscriptions/{FIRST}", subscription(enabled=enabled))
    assert ask("subscriptions", action, "Failures").returncode == 0
    assert api.asked[-1] == Asked(method="PATCH", path=f"/v1/{HERE}/subscriptions/{FIRST}", body={"enabled": enabled})


def test_a_deletion_needs_a_confirmation_or_yes(api: CannedApi, ask: Ask) -> None:
    api.respond(f"DELETE {HERE}/subscriptions/{FIRST}", subscription())
    refused = ask("subscriptions", "delete", "Failures")
    assert (refused.returncode, "--yes" in refused.stderr) == (2, True)
    assert {each.method for each in api.asked} == {"GET"}
    assert ask("subscriptions", "delete", "Failures", "--yes").returncode == 0
    assert api.asked[-1].method == "DELETE"


@pytest.mark.parametrize(
    "option", [("--hour", "0"), ("--timezone", "UTC"), ("--reminder", "x")], ids=lambda given: given[0]
)
def test_options_of_a_schedule_need_one(api: CannedApi, ask: Ask, option: tuple[str, str]) -> None:
    refused = ask("subscriptions", "create", "Digest", "--kind", "sns", "--target", "builds", *option)
    assert (refused.returncode, refused.stderr) == (2, f"runledger: {option[0]} requires --daily or --weekly\n")
    assert api.asked == []


def test_a_rotation_prints_the_generated_secret(api: CannedApi, ask: Ask) -> None:
    webhook = subscription(kind="webhook")
    api.respond(f"GET {HERE}/subscriptions", {"items": [webhook], "next_cursor": None})
    api.respond(f"POST {HERE}/subscriptions/{FIRST}/rotate-secret", webhook | {"secret": "whsec_new"})
    assert ask("subscriptions", "rotate-secret", "Failures").stdout == "whsec_new\n"
    assert api.asked[-1].body == {}


def test_messages_are_filtered_by_the_api_and_shown_with_their_error(api: CannedApi, ask: Ask) -> None:
    failed = message("failed", error_message="The receiver returned 500", retry_count=3, resent_as=SECOND, title="Lint")
    waits = message("processing", next_attempt_at="2025-01-15T10:05:00.000Z", error_message="no route")
    gone = message("completed", subscription_id="0" * 32)
    api.respond(f"GET {HERE}/messages", {"items": [failed, waits, gone], "next_cursor": "next"})
    shown = ask("messages", "--status", "failed", "--type", "job.failed", "--subscription", "Failures", "--since", "7d")
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
    assert api.asked[-1].query == wanted


def test_one_message_is_shown_with_what_is_sent(api: CannedApi, ask: Ask) -> None:
    found = message("completed", notification_id="n1", payload={"specversion": "1.0", "data": {"x": "\x1b[31m"}})
    api.respond(f"GET {HERE}/messages/{MESSAGE}", found)
    shown = ask("messages", "show", MESSAGE).stdout
    assert "  receiver's id   n1\n" in shown
    assert '    "specversion": "1.0",\n' in shown
    assert "\x1b" not in shown


def test_failed_messages_are_sent_again_each_once(api: CannedApi, ask: Ask) -> None:
    for each in (FIRST, SECOND):
        api.respond(f"POST {HERE}/messages/{each}/send-again", message(resent_from=each))
    assert ask("messages", "send-again", FIRST, SECOND, FIRST).stdout.count(MESSAGE) == 2


def test_a_message_that_cant_be_sent_again_doesnt_stop_the_others(api: CannedApi, ask: Ask) -> None:
    deleted = "The subscription of this message was deleted or is disabled"
    api.respond(f"POST {HERE}/messages/{FIRST}/send-again", problem(409, "Conflict", deleted))
    api.respond(f"POST {HERE}/messages/{SECOND}/send-again", message(resent_from=SECOND))
    done = ask("messages", "send-again", FIRST, SECOND)
    assert (done.returncode, done.stdout) == (1, f"queued  {MESSAGE}\n")
    assert done.stderr == f"runledger: {FIRST}: Conflict: {deleted}\n"


def test_an_error_of_the_api_ends_send_again_and_shows_what_was_sent(api: CannedApi, ask: Ask) -> None:
    api.respond(f"POST {HERE}/messages/{FIRST}/send-again", message(resent_from=FIRST))
    api.respond(f"POST {HERE}/messages/{SECOND}/send-again", problem(429, "Too Many Requests", "try again later"))
    done = ask("messages", "send-again", FIRST, SECOND, MESSAGE)
    assert (done.returncode, done.stdout) == (1, f"queued  {MESSAGE}\n")
    assert "try again later" in done.stderr


def test_the_results_of_several_messages_name_their_subscriptions(api: CannedApi, ask: Ask) -> None:
    sent = [message(), message("failed", subscription_id=SECOND, error_message="HTTP 410 Gone")]
    api.respond(f"POST {HERE}/messages", {"items": sent})
    shown = ask("notify", "Down for maintenance").stdout
    assert shown == f"queued  {MESSAGE}  Failures\nfailed  {MESSAGE}  Digest  HTTP 410 Gone\n"


def test_a_text_goes_to_all_or_to_one_with_its_fields(api: CannedApi, ask: Ask) -> None:
    api.respond(f"POST {HERE}/messages", {"items": [message(message_type="runledger.message")]})
    assert ask("notify", "Down for maintenance").stdout == f"queued  {MESSAGE}\n"
    assert api.asked[-1].body == {"text": "Down for maintenance"}
    ask(
        *("notify", "Deployed", "--title", "Release", "--to", "Failures", "--priority", "4"),
        *("--tag", "rocket", "--url", "https://example.com", "--id", "d1"),
    )
    assert api.asked[-1].body == {
        "text": "Deployed",
        "title": "Release",
        "subscription_id": FIRST,
        "priority": 4,
        "tags": ["rocket"],
        "click_url": "https://example.com",
        "id": "d1",
    }
    assert ask("notify", "-").returncode == 2  # nothing on stdin
    assert ask("notify", "x", "--priority", "6").returncode == 2


def test_without_notifications_the_reason_is_one_line(api: CannedApi, ask: Ask) -> None:
    for route in ("GET {}/subscriptions", "GET {}/messages", "POST {}/messages"):
        api.respond(route.format(HERE), OFF)
    for command in (["subscriptions"], ["messages"], ["notify", "x"]):
        refused = ask(*command)
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


def test_json_is_the_response(api: CannedApi, ask: Ask) -> None:
    page = {"items": [message()], "next_cursor": None}
    api.respond(f"GET {HERE}/messages", page)
    assert json.loads(ask("messages", "--all", "--json").stdout) == page
    api.respond(f"GET {HERE}/messages/{MESSAGE}", message())
    assert json.loads(ask("messages", "show", MESSAGE, "--json").stdout) == message()
