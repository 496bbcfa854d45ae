"""The CLI, a process of its own, calls the deployed API."""

import json
import signal
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from subprocess import CompletedProcess
from threading import Timer
from typing import Any

import pytest

from local.aws.outputs import Outputs
from tests.cli.command import COMMAND, environment, runledger
from tests.e2e.test_webhooks import NO_INSTANCE, post
from tests.support.polling import PATIENCE_SECONDS
from tests.support.webhooks import COMPLETED, IN_PROGRESS, INSTALLATION, LIFE, QUEUED, payload

JOB, RUN = 9_000_001, 9_000_901
REPO = "acme/command-line"
PAGE = f"https://github.com/{REPO}/actions/runs/{RUN}/job/{JOB}"

Cli = Callable[..., CompletedProcess[str]]


def message(step: str, *, job_id: int = JOB, **changes: Any) -> dict[str, Any]:
    """A webhook of a repository that only this test uses, because many tests share a deployment."""
    body = payload(step, job_id=job_id, run_id=RUN, html_url=PAGE, runner_name=NO_INSTANCE, **changes)
    body["repository"]["full_name"] = REPO
    return body


@pytest.fixture(scope="module")
def folder(outputs: Outputs, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the outputs, as after `make up`."""
    checkout = tmp_path_factory.mktemp("checkout")
    (checkout / ".local").mkdir()
    outputs.save(checkout / ".local" / "outputs.json")
    return checkout


@pytest.fixture(scope="module")
def cli(folder: Path) -> Cli:
    def run(*arguments: str) -> CompletedProcess[str]:
        return runledger("--installation", str(INSTALLATION), "--utc", *arguments, folder=folder)

    return run


@pytest.fixture(scope="module", autouse=True)
def life(outputs: Outputs) -> None:
    """A job that ran to its end."""
    for step in (QUEUED, IN_PROGRESS, COMPLETED):
        assert post(outputs, message(step), guid=f"{step} {JOB}").status == 202


def test_jobs_of_a_repository_are_listed(cli: Cli) -> None:
    shown = cli("jobs", "--repo", REPO)
    assert shown.returncode == 0, shown.stderr
    (head, row) = shown.stdout.splitlines()
    assert head.split()[:3] == ["JOB", "STATUS", "REPOSITORY"]
    assert row.split()[:3] == [str(JOB), "success", REPO]
    assert row.endswith(NO_INSTANCE)


def test_all_pages_are_one_document(outputs: Outputs, cli: Cli) -> None:
    job_ids = list(range(JOB + 1, JOB + 6))
    for job_id in job_ids:
        body = message(QUEUED, job_id=job_id)
        body["repository"]["full_name"] = f"{REPO}-pages"
        assert post(outputs, body, guid=f"queued {job_id}").status == 202
    first = json.loads(cli("jobs", "--repo", f"{REPO}-pages", "--limit", "2", "--json").stdout)
    rest = cli("jobs", "--repo", f"{REPO}-pages", "--cursor", first["next_cursor"], "--all", "--json")
    # A cursor belongs to a list and not to the size of its pages.
    found = [*first["items"], *json.loads(rest.stdout)["items"]]
    assert sorted(each["job_id"] for each in found) == job_ids


@pytest.mark.parametrize("wanted", [str(JOB), PAGE])
def test_a_job_shows_its_timeline(cli: Cli, wanted: str) -> None:
    shown = cli("job", wanted)
    assert shown.returncode == 0, shown.stderr
    assert "10m 15s, price unknown" in next(line for line in shown.stdout.splitlines() if line.startswith("  cost "))
    steps = [line.partition("● ")[2] for line in shown.stdout.splitlines() if "● " in line]
    # It was recorded long after it had ended.
    assert steps == ["created", "started", "completed", "received"]
    assert "status: in_progress → completed\n" in shown.stdout


def test_a_run_has_its_jobs(cli: Cli) -> None:
    shown = cli("run", PAGE)
    assert shown.returncode == 0, shown.stderr
    assert f"{RUN}, attempt 1" in shown.stdout
    assert str(JOB) in shown.stdout


def test_statistics_count_the_job(cli: Cli) -> None:
    shown = cli("stats", "--repo", REPO, "--since", "2025-01-01", "--until", "2025-02-01", "--series")
    assert shown.returncode == 0, shown.stderr
    assert "  by conclusion  1 success\n" in shown.stdout
    assert "  ran            p50 10m 1" in shown.stdout


@pytest.mark.parametrize("command", ["stuck", "orphans", "installations"])
def test_every_list_command_works_as_text_and_json(cli: Cli, command: str) -> None:
    shown = cli(command, "--json")
    assert shown.returncode == 0, shown.stderr
    assert isinstance(next(iter(json.loads(shown.stdout).values())), list)
    assert cli(command).returncode == 0


def test_a_job_that_waits_since_january_is_stuck(outputs: Outputs, cli: Cli) -> None:
    waiting = message(LIFE[1], job_id=JOB + 50)
    assert post(outputs, waiting, guid=f"waiting {JOB + 50}").status == 202
    rows = [line for line in cli("stuck").stdout.splitlines() if line.split()[0] == str(JOB + 50)]
    assert [row.split()[1] for row in rows] == ["waiting"]


def test_a_quick_pass_runs_and_reports_its_result(cli: Cli) -> None:
    shown = cli("reconcile", "--quick", "--wait")
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.startswith("Reconciliation (quick)")


def test_cleaning_an_unknown_runner_fails_with_one_line(cli: Cli) -> None:
    refused = cli("orphans", "clean", "i-0000000000000dead", "--yes")
    assert (refused.returncode, refused.stderr.count("\n")) == (1, 1)
    assert refused.stderr.startswith("runledger: Not Found: ")


def test_a_rejected_request_is_reported_in_one_line(cli: Cli) -> None:
    refused = cli("jobs", "--status", "queued", "--since", "yesterday")
    assert (refused.returncode, refused.stderr.count("\n")) == (1, 1)
    assert refused.stderr.startswith("runledger: Bad Request: since ")


def test_an_unknown_token_is_rejected(folder: Path) -> None:
    refused = runledger("installations", "--token", "rl_stranger", folder=folder)
    assert refused.returncode == 1
    assert refused.stderr.startswith("runledger: Unauthorized: ")
    assert "rl_stranger" not in refused.stderr


def test_tail_shows_an_event_as_it_is_recorded(outputs: Outputs, folder: Path) -> None:
    arguments = ("tail", "--installation", str(INSTALLATION), "--interval", "0.2", "--json")
    with subprocess.Popen(
        [*COMMAND, *arguments], cwd=folder, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        created_at = datetime.now(UTC).isoformat()
        assert post(outputs, message(QUEUED, job_id=JOB + 60, created_at=created_at), guid="of the tail").status == 202
        patience = Timer(PATIENCE_SECONDS, process.kill)
        patience.start()
        found = next((each for each in map(json.loads, process.stdout) if each["job_id"] == JOB + 60), None)
        patience.cancel()
        process.send_signal(signal.SIGINT)
    assert found is not None
    assert (found["event_type"], process.returncode) == ("webhook_queued", 130)
