"""`runledger subscriptions`: what it sends to the API, and what it prints."""

from pathlib import Path

import pytest

from tests.cli.canned_api import CannedApi, Request
from tests.cli.conftest import Cli
from tests.cli.responses import (
    INSTALLATION,
    MESSAGE,
    OTHER_SUBSCRIPTION,
    SUBSCRIPTION,
    message,
    subscription,
)

HERE = f"installations/{INSTALLATION}"
FIRST, SECOND = SUBSCRIPTION, OTHER_SUBSCRIPTION


pytestmark = pytest.mark.usefixtures("two_subscriptions_exist")


def test_subscriptions_are_listed_with_their_health_and_rules(cli: Cli) -> None:
    head, first, second = cli("subscriptions", "--utc").stdout.splitlines()
    assert head.split() == ["SUBSCRIPTION", "NAME", "CHANNEL", "HEALTH", "LAST", "SUCCESS", "SENDS"]
    assert first.split()[:3] == [FIRST, "Failures", "slack"]
    assert first.endswith("healthy   2025-01-15 11:00:00Z  job.failed, job.stuck")
    assert second.endswith("on main; at most 5 an hour; digest weekly on friday at 09:00 UTC")
    assert "disabled" in second


@pytest.mark.parametrize("given", ["Failures", FIRST, FIRST[:4]])
def test_a_subscription_is_found_by_its_name_its_id_or_its_beginning(api: CannedApi, cli: Cli, given: str) -> None:
    api.respond(f"POST {HERE}/subscriptions/{FIRST}/test", message(message_type="runledger.test"))
    assert cli("subscriptions", "test", given).stdout == f"queued  {MESSAGE}\n"


@pytest.mark.parametrize(("given", "code", "text"), [("Fail", 1, "Failures, Digest"), ("a1", 1, "no subscription")])
def test_a_subscription_that_isnt_found_is_an_error(cli: Cli, given: str, code: int, text: str) -> None:
    refused = cli("subscriptions", "test", given)
    assert (refused.returncode, text in refused.stderr) == (code, True)


def test_a_name_that_two_subscriptions_have_needs_an_id(api: CannedApi, cli: Cli) -> None:
    same = [subscription(), subscription(SECOND)]
    api.respond(f"GET {HERE}/subscriptions", {"items": same, "next_cursor": None})
    refused = cli("subscriptions", "enable", "Failures")
    assert (refused.returncode, FIRST in refused.stderr, SECOND in refused.stderr) == (2, True, True)


def test_a_webhook_is_created_and_its_secret_is_the_only_line_on_stdout(api: CannedApi, cli: Cli) -> None:
    api.respond(f"POST {HERE}/subscriptions", subscription(kind="webhook", secret="whsec_x"))
    shown = cli(
        *("subscriptions", "create", "Failures", "--kind", "webhook", "--url", "https://example.com/h"),
        *("--type", "job.*", "--type", "run.failed", "--branch", "main", "--at-most", "20"),
        *("--weekly", "Friday", "--hour", "16", "--timezone", "Europe/Berlin"),
    )
    assert (shown.returncode, shown.stdout) == (0, "whsec_x\n")
    assert api.requests[-1].body == {
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


def test_edit_sends_what_is_given_and_keeps_the_other_fields_of_the_channel(api: CannedApi, cli: Cli) -> None:
    known = subscription(kind="ntfy", config={"url": "https://ntfy.sh/old", "priority": 4})
    api.respond(f"GET {HERE}/subscriptions", {"items": [known], "next_cursor": None})
    api.respond(f"PATCH {HERE}/subscriptions/{FIRST}", known)
    options = ("--url", "https://ntfy.sh/new", "--type", "run.failed", "--repo", "acme/*", "--clear", "branch")
    shown = cli("subscriptions", "edit", "Failures", *options, "--clear", "at-most", "--clear", "schedule")
    assert (shown.returncode, shown.stderr) == (0, f"changed Failures ({FIRST})\n")
    assert api.requests[-1].body == {
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
    api: CannedApi, cli: Cli, options: tuple[str, ...], text: str
) -> None:
    refused = cli("subscriptions", "edit", "Failures", *options)
    assert (refused.returncode, text in refused.stderr) == (2, True)
    assert all(each.method == "GET" for each in api.requests)


def test_a_secret_comes_from_a_file_and_never_from_an_option(api: CannedApi, cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "url"
    file.write_text("https://hooks.slack.com/services/x\n")
    api.respond(f"POST {HERE}/subscriptions", subscription())
    shown = cli(
        "subscriptions", "create", "Failures", "--kind", "slack", "--type", "job.failed", "--secret-file", str(file)
    )
    assert (shown.returncode, shown.stdout) == (0, "")
    assert api.requests[-1].body["secret"] == "https://hooks.slack.com/services/x"
    assert "secret" not in api.requests[-1].body["config"]
    before = len(api.requests)
    refused = cli("subscriptions", "create", "Failures", "--kind", "slack", "--type", "job.failed")
    assert (refused.returncode, "--secret-file" in refused.stderr, len(api.requests)) == (2, True, before)
    missing = cli("subscriptions", "create", "F", "--kind", "slack", "--secret-file", str(tmp_path / "missing"))
    assert (missing.returncode, "cannot read" in missing.stderr) == (2, True)


def test_relaunch_leaves_its_type_to_the_api_and_takes_further_fields(api: CannedApi, cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text("s")
    api.respond(f"POST {HERE}/subscriptions", subscription(kind="relaunch"))
    options = ("--url", "https://launcher.example/hook", "--secret-file", str(file))
    cli("subscriptions", "create", "Launcher", "--kind", "relaunch", *options, "--config", '{"owner_type": "User"}')
    body = api.requests[-1].body
    assert body["config"] == {"url": "https://launcher.example/hook", "owner_type": "User"}
    assert "types" not in body
    assert cli("subscriptions", "create", "x", "--kind", "sns", "--config", "[1]").returncode == 2


@pytest.mark.parametrize(("action", "enabled"), [("enable", True), ("disable", False)])
def test_a_subscription_is_enabled_and_disabled(api: CannedApi, cli: Cli, action: str, *, enabled: bool) -> None:
    api.respond(f"PATCH {HERE}/subscriptions/{FIRST}", subscription(enabled=enabled))
    assert cli("subscriptions", action, "Failures").returncode == 0
    assert api.requests[-1] == Request(
        method="PATCH", path=f"/v1/{HERE}/subscriptions/{FIRST}", body={"enabled": enabled}
    )


def test_a_deletion_needs_a_confirmation_or_yes(api: CannedApi, cli: Cli) -> None:
    api.respond(f"DELETE {HERE}/subscriptions/{FIRST}", subscription())
    refused = cli("subscriptions", "delete", "Failures")
    assert (refused.returncode, "--yes" in refused.stderr) == (2, True)
    assert {each.method for each in api.requests} == {"GET"}
    assert cli("subscriptions", "delete", "Failures", "--yes").returncode == 0
    assert api.requests[-1].method == "DELETE"


@pytest.mark.parametrize(
    "option", [("--hour", "0"), ("--timezone", "UTC"), ("--reminder", "x")], ids=lambda given: given[0]
)
def test_options_of_a_schedule_need_one(api: CannedApi, cli: Cli, option: tuple[str, str]) -> None:
    refused = cli("subscriptions", "create", "Digest", "--kind", "sns", "--target", "builds", *option)
    assert (refused.returncode, refused.stderr) == (2, f"runledger: {option[0]} requires --daily or --weekly\n")
    assert api.requests == []


def test_a_rotation_prints_the_generated_secret(api: CannedApi, cli: Cli) -> None:
    webhook = subscription(kind="webhook")
    api.respond(f"GET {HERE}/subscriptions", {"items": [webhook], "next_cursor": None})
    api.respond(f"POST {HERE}/subscriptions/{FIRST}/rotate-secret", webhook | {"secret": "whsec_new"})
    assert cli("subscriptions", "rotate-secret", "Failures").stdout == "whsec_new\n"
    assert api.requests[-1].body == {}
