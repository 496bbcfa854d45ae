"""On a terminal there are colours, tables that fit, and a confirmation before anything is destroyed."""

import os
import pty
import subprocess

import pytest

from tests.cli import release_responses
from tests.cli.canned_api import TOKEN, CannedApi
from tests.cli.command import COMMAND, environment
from tests.cli.responses import INSTALLATION, ORPHANS, PASS, STATISTICS, job

CLEANUP = "POST admin/orphans/i-0abc/cleanup"


@pytest.fixture(autouse=True)
def _one_job(api: CannedApi) -> None:
    api.respond(f"GET installations/{INSTALLATION}/jobs", {"items": [job(was_interrupted=False)], "next_cursor": None})
    api.respond(CLEANUP, {"id": PASS})


def test_a_failure_is_red_on_a_terminal(api: CannedApi) -> None:
    assert "\x1b[31mfailure\x1b[0m" in _on_a_terminal(api, "jobs", "--status", "completed")


def test_names_are_shortened_until_the_table_fits(api: CannedApi) -> None:
    shown = _on_a_terminal(api, "jobs", "--status", "completed", "--no-color", COLUMNS="105")
    assert "RUNNER" in shown
    assert "runs-on--i-0abc--x" not in shown
    assert all(len(line) <= 105 for line in shown.splitlines())


@pytest.mark.parametrize("arguments", [["jobs", "--status", "completed"], ["stats", "--series"]], ids=" ".join)
def test_every_table_fits_a_terminal_of_80_columns(api: CannedApi, arguments: list[str]) -> None:
    api.respond(f"GET installations/{INSTALLATION}/statistics", STATISTICS)
    shown = _on_a_terminal(api, *arguments, "--no-color", COLUMNS="80")
    assert max(len(line) for line in shown.splitlines()) <= 80


@pytest.mark.parametrize("arguments", [["heads"], ["environments"], ["release", "ui", "1"], ["dora"]], ids=" ".join)
def test_heads_and_releases_fit_a_terminal_of_80_columns(api: CannedApi, arguments: list[str]) -> None:
    """The last column of a release is prose, which the terminal wraps."""
    line = release_responses.line()
    for each in line["dependents"]:
        each.pop("message", None)
    for path, response in {
        "heads": {"items": [release_responses.head()], "next_cursor": None},
        "environments": {"items": [release_responses.environment()], "next_cursor": None},
        "releases/ui/1": line,
        "dora": release_responses.measured(release_responses.dora()),
    }.items():
        api.respond(f"GET installations/{INSTALLATION}/{path}", response)
    shown = _on_a_terminal(api, *arguments, "--no-color", COLUMNS="80")
    assert len(shown.splitlines()) > 1
    assert max(len(row.removesuffix("MESSAGE").rstrip()) for row in shown.splitlines()) <= 80


def test_orphans_fit_a_terminal_of_80_columns_with_their_id_and_reason(api: CannedApi) -> None:
    (orphan,) = ORPHANS["orphans"]
    runner = "i-0123456789abcdef0"
    api.respond("GET admin/orphans", {"orphans": [orphan | {"runner_id": runner, "reason": "no_job"}], "total": 1})
    (_, row) = _on_a_terminal(api, "orphans", "--no-color", COLUMNS="80").splitlines()
    assert (row.startswith(runner), row.endswith("no_job")) == (True, True)
    assert len(row) <= 80


@pytest.mark.parametrize(("options", "variables"), [(["--no-color"], {}), ([], {"NO_COLOR": "1"})])
def test_an_option_and_a_variable_disable_colours(
    api: CannedApi, options: list[str], variables: dict[str, str]
) -> None:
    assert "\x1b" not in _on_a_terminal(api, "jobs", "--status", "completed", *options, **variables)


@pytest.mark.parametrize(("typed", "cleaned"), [("y\n", True), ("\n", False), ("no\n", False)])
def test_an_orphan_is_cleaned_only_after_confirmation(api: CannedApi, typed: str, cleaned: bool) -> None:
    shown = _on_a_terminal(api, "orphans", "clean", "i-0abc", typed=typed)
    assert "Clean it up? [y/N]" in shown
    assert ("requested" in shown, "nothing was changed" in shown) == (cleaned, not cleaned)
    assert len(api.requests) == cleaned


def _on_a_terminal(api: CannedApi, *arguments: str, typed: str = "", **variables: str) -> str:
    """All that a person would see."""
    ours, theirs = pty.openpty()
    variables = {"COLUMNS": "200", "RUNLEDGER_API_URL": api.url, "RUNLEDGER_TOKEN": TOKEN, **variables}
    with subprocess.Popen(
        [*COMMAND, *arguments], env=environment(**variables), stdin=theirs, stdout=theirs, stderr=theirs
    ):
        os.close(theirs)
        os.write(ours, typed.encode())
        shown = b""
        try:
            while chunk := os.read(ours, 65_536):
                shown += chunk
        except OSError:
            pass  # Linux's error when the other end is closed
    os.close(ours)
    return shown.decode()
