"""`runledger heads`, `environments`, `release` and `dora`: what they send to the API, and what they print."""

import json
from typing import Any

import pytest

from tests.cli import release_responses as responses
from tests.cli.canned_api import CannedApi
from tests.cli.conftest import Cli
from tests.cli.release_responses import PACKAGE
from tests.cli.responses import INSTALLATION, problem

HERE = f"installations/{INSTALLATION}"
LINE = f"{HERE}/releases/%40acme%2Fui/2.1.0"
OFF = problem(404, "Not Found", "This deployment has no heads and releases: the setting releases turns them on")


def test_heads_are_listed_with_their_state_and_last_run(api: CannedApi, cli: Cli) -> None:
    green = responses.head(state="none", since=None, last_run=None, workflow_name=None)
    api.respond(f"GET {HERE}/heads", {"items": [responses.head(), green], "next_cursor": "x y"})
    shown = cli("heads", "--utc")
    head, first, second = shown.stdout.splitlines()
    assert head.split() == ["REPOSITORY", "BRANCH", "WORKFLOW", "STATE", "SINCE", "LAST", "RUN", "COMMIT", "ACTOR"]
    assert first.endswith("Build and test  red    2025-01-15 10:10:00Z  failure   1a2b3c4  octocat")
    assert second.split()[2:] == ["7", "none", "-", "-", "-", "-"]
    assert "--cursor 'x y'" in shown.stderr


def test_options_of_heads_choose_one_branch_or_all(api: CannedApi, cli: Cli) -> None:
    api.respond(f"GET {HERE}/heads", {"items": [], "next_cursor": None})
    assert "no heads found" in cli("heads", "--repo", "acme/api", "--branch", "x", "--limit", "5").stderr
    assert api.requests[-1].query == {"repo": "acme/api", "branch": "x", "limit": "5"}
    cli("heads", "--repo", "acme/api", "--all-branches", "--all")
    assert api.requests[-1].query == {"repo": "acme/api", "all_branches": "true", "limit": "200"}


def test_environments_are_listed_with_what_is_deployed(api: CannedApi, cli: Cli) -> None:
    nothing: dict[str, Any] = {"current": None, "since": None, "previous": None, "rollback_targets": []}
    empty = responses.environment(**nothing, is_rollback=False, is_active=False)
    gone = responses.environment(is_active=False, current=responses.deployment())
    api.respond(f"GET {HERE}/environments", {"items": [responses.environment(), empty, gone], "next_cursor": None})
    _, first, second, third = cli("environments", "--utc").stdout.splitlines()
    assert first.split()[2:4] == ["1.4.0", "(rollback)"]
    assert first.split()[-4:] == ["9f8e7d6,", "1.2.0", "failure", "octocat"]
    assert second.split()[2:] == ["-", "-", "-", "failure", "-"]
    assert "1a2b3c4 (rollback, inactive)" in third


def test_a_release_shows_its_dependents_and_builds(api: CannedApi, cli: Cli) -> None:
    api.respond(f"GET {LINE}", responses.line())
    shown = cli("release", PACKAGE, "2.1.0", "--utc").stdout
    assert shown.splitlines()[0] == "@acme/ui 2.1.0"
    facts = [line.split(maxsplit=1) for line in shown.split("\n\n")[0].splitlines()[1:]]
    assert ["finished", "3 of 3 dependents (1 blocked, 1 failed, 1 succeeded)"] in facts
    assert ["status", "failed"] in facts
    assert "The run ended with failure" in shown
    assert "12 of 30      40 %" in shown


def test_a_release_without_dependents_has_nothing_to_finish(api: CannedApi, cli: Cli) -> None:
    api.respond(f"GET {LINE}", responses.line(status="published", total_dependents=0, dependents=[], builds=[]))
    assert "finished" not in cli("release", PACKAGE, "2.1.0").stdout


def test_without_a_name_the_newest_releases_are_listed(api: CannedApi, cli: Cli) -> None:
    published = responses.line(version="2.0.3", status="published", total_dependents=0, failed_dependents=0)
    listed = {"items": [responses.line(), published], "next_cursor": "x"}
    api.respond(f"GET {HERE}/releases", listed, {"items": [], "next_cursor": None}, listed)
    shown = cli("release", "--limit", "2", "--utc")
    _, first, second = shown.stdout.splitlines()
    assert first.split()[:7] == ["@acme/ui", "2.1.0", "failed", "3", "of", "3", "2"]
    assert second.split()[:4] == ["@acme/ui", "2.0.3", "published", "-"]
    assert "--cursor x" in shown.stderr
    assert "no releases found" in cli("release").stderr
    assert json.loads(cli("release", "--json").stdout) == listed


def test_without_a_version_the_latest_is_shown(api: CannedApi, cli: Cli) -> None:
    api.respond(f"GET {HERE}/packages/%40acme%2Fui", {"name": PACKAGE, "version": "2.1.0"}, {"name": PACKAGE})
    api.respond(f"GET {LINE}", responses.line())
    assert json.loads(cli("release", PACKAGE, "--json").stdout) == responses.line()
    missing = cli("release", PACKAGE)
    assert (missing.returncode, "no version of @acme/ui has been published" in missing.stderr) == (1, True)


def test_dora_figures_that_are_unknown_are_no_zeros(api: CannedApi, cli: Cli) -> None:
    api.respond(f"GET {HERE}/dora", responses.measured(responses.dora(), truncated=True))
    shown = cli("dora", "--since", "30d", "--environment", "production", "--utc")
    title, _, _, row = shown.stdout.splitlines()
    assert title == "2024-12-16 12:00:00Z to 2025-01-15 12:00:00Z"
    expected = ["acme/storefront", "production", "1,234", "41.1", "1h", "30m", "1d", "01h", "12", "3", "1.2", "%", "-"]
    assert row.split() == expected
    assert "some environments are missing" in shown.stderr
    assert api.requests[-1].query == {"since": "30d", "environment": "production"}


def test_rare_deployments_are_not_shown_as_none(api: CannedApi, cli: Cli) -> None:
    for per_day, shown in ((0.0, "0.0"), (4 / 90, "0.04"), (0.1333, "0.13"), (1.0, "1.0")):
        api.respond(f"GET {HERE}/dora", responses.measured(responses.dora(deployments=4, deployments_per_day=per_day)))
        assert cli("dora").stdout.splitlines()[-1].split()[3] == shown


def test_without_figures_the_environment_that_is_missing_is_named(api: CannedApi, cli: Cli) -> None:
    api.respond(f"GET {HERE}/dora", responses.measured())
    assert "no production environment found" in cli("dora").stderr
    assert "no environment qa found" in cli("dora", "--environment", "qa").stderr


@pytest.mark.parametrize("arguments", [("heads",), ("environments",), ("dora",), ("release",), ("release", "ui", "1")])
def test_without_the_setting_the_reason_is_printed(api: CannedApi, cli: Cli, arguments: tuple[str, ...]) -> None:
    for path in ("heads", "environments", "dora", "releases", "releases/ui/1"):
        api.respond(f"GET {HERE}/{path}", OFF)
    shown = cli(*arguments)
    assert (shown.returncode, "the setting releases turns them on" in shown.stderr) == (1, True)
