"""Interrupted jobs are re-run with one call, however many messages report the end of the run."""

import json
import random
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.config import Config
from runledger.model.errors import UnavailableError
from runledger.model.follow_ups import RerunCheck
from runledger.model.runs import RerunOutcome, RerunPolicy
from runledger.platform.clock import SystemClock
from runledger.recording.ledger import Ledger
from runledger.runners.reruns import Reruns
from runledger.tables.rerun_claims import RerunClaims
from runledger_github.app import GitHubApp

from local.github import SimulatedGitHub
from local.github.credentials import APP_ID
from tests.support import messages
from tests.support.beds import empty, items
from tests.support.ledgers import EVENTS, RUNS, RememberedFollowUps, ledger_on
from tests.support.runner_receipts import interrupted, scheduled
from tests.support.webhooks import COMPLETED, IN_PROGRESS, INSTALLATION, REPO, RUN, receipt
from tests.tables.test_runs import take

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

JOBS = (101, 102, 103)
CHECK = RerunCheck(installation_id=INSTALLATION, repo_full_name=REPO, run_id=RUN, run_attempt=1)


@pytest.fixture
def github(github: SimulatedGitHub) -> SimulatedGitHub:
    github.state.put("runs", RUN, repository=REPO, status="completed", conclusion="failure")
    for job_id in JOBS:
        github.state.put("jobs", job_id, run_id=RUN, status="completed", conclusion="failure")
    return github


def reruns_of(ledger: Ledger, github: SimulatedGitHub, **options: Any) -> Reruns:
    secret = json.dumps({"app_id": APP_ID, "private_key": github.state.credentials.private_key})
    app = GitHubApp.from_secret(secret, api_url=github.url)
    wiring = {"at_most": 1, "github": app.installation, **options}
    common: dict[str, Any] = {
        "claims": RerunClaims(ledger.runs._table.client, RUNS),
        "record": ledger.record,
        "has_gates": ledger.gates.exist,
    }
    return Reruns(**common, **wiring)


def reruns_requested(github: SimulatedGitHub) -> int:
    return sum(count for (route, _), count in github.state.calls.items() if "rerun-failed-jobs" in route)


def interrupt(ledger: Ledger, *job_ids: int) -> None:
    for job_id in job_ids:
        ledger.record(scheduled(job_id))
        ledger.record(receipt(IN_PROGRESS, job_id=job_id, guid=f"started {job_id}"))
        ledger.record(interrupted(job_id))
        ledger.record(receipt(COMPLETED, job_id=job_id, guid=f"completed {job_id}", conclusion="failure"))


def history(dynamodb: "DynamoDBClient", job_id: int) -> list[str]:
    return [line["event_type"] for line in items(dynamodb, EVENTS) if line["job_id"] == job_id]


def test_the_later_of_the_runs_end_and_the_interruption_queues_the_check(
    dynamodb: "DynamoDBClient",
) -> None:
    for first in ("run", "jobs"):
        follow_ups = RememberedFollowUps()
        ledger = ledger_on(dynamodb, follow_ups=follow_ups)
        steps = [lambda led: take(led, messages.run("completed"), guid="run", at=1), lambda led: interrupt(led, *JOBS)]
        for step in steps if first == "run" else reversed(steps):
            assert follow_ups.reruns == []
            step(ledger)
        assert follow_ups.reruns != []
        empty(dynamodb)


def test_all_jobs_are_rerun_by_one_call_which_is_in_each_history(
    dynamodb: "DynamoDBClient", github: SimulatedGitHub
) -> None:
    ledger = ledger_on(dynamodb)
    interrupt(ledger, *JOBS)
    reruns = reruns_of(ledger, github)
    assert [reruns.consider(CHECK).outcome for _ in range(3)] == [RerunOutcome.REQUESTED] * 3
    assert reruns_requested(github) == 1
    assert all("rerun_requested" in history(dynamodb, job_id) for job_id in JOBS)
    (run,) = items(dynamodb, RUNS)
    assert run["rerun_result"] == "requested"


def test_a_run_with_a_job_that_failed_for_its_own_reason_is_rerun_only_if_the_setting_allows_it(
    dynamodb: "DynamoDBClient", github: SimulatedGitHub
) -> None:
    ledger = ledger_on(dynamodb)
    interrupt(ledger, *JOBS[:2])
    assert reruns_of(ledger, github).consider(CHECK).outcome is RerunOutcome.OWN_FAILURE
    assert reruns_requested(github) == 0
    policy = RerunPolicy.ANY_FAILURE
    assert reruns_of(ledger, github, policy=policy).consider(CHECK).outcome is RerunOutcome.REQUESTED
    assert reruns_requested(github) == 1


def test_an_interruption_that_is_recorded_later_still_counts(
    dynamodb: "DynamoDBClient", github: SimulatedGitHub
) -> None:
    ledger = ledger_on(dynamodb)
    interrupt(ledger, *JOBS[:2])
    reruns = reruns_of(ledger, github)
    assert reruns.consider(CHECK).outcome is RerunOutcome.OWN_FAILURE
    interrupt(ledger, JOBS[2])
    assert reruns.consider(CHECK).outcome is RerunOutcome.REQUESTED


@pytest.mark.parametrize(
    ("at_most", "attempt", "expected"),
    [(0, 1, RerunOutcome.LIMIT_REACHED), (1, 2, RerunOutcome.LIMIT_REACHED), (2, 2, RerunOutcome.REQUESTED)],
)
def test_a_run_is_not_rerun_more_often_than_the_setting_allows(
    dynamodb: "DynamoDBClient", github: SimulatedGitHub, at_most: int, attempt: int, expected: RerunOutcome
) -> None:
    github.state.put("runs", RUN, repository=REPO, status="completed", conclusion="failure", run_attempt=attempt)
    github.state.put("jobs", 100 + attempt, run_id=RUN, run_attempt=attempt, status="completed", conclusion="failure")
    ledger = ledger_on(dynamodb)
    check = RerunCheck(installation_id=INSTALLATION, repo_full_name=REPO, run_id=RUN, run_attempt=attempt)
    reruns = reruns_of(ledger, github, at_most=at_most, policy=RerunPolicy.ANY_FAILURE)
    assert reruns.consider(check).outcome is expected
    assert reruns_requested(github) == (expected is RerunOutcome.REQUESTED)


def test_a_run_that_github_has_not_finished_is_rerun_later(dynamodb: "DynamoDBClient", github: SimulatedGitHub) -> None:
    github.state.put("runs", RUN, repository=REPO, status="in_progress")
    ledger = ledger_on(dynamodb)
    interrupt(ledger, *JOBS)
    with pytest.raises(UnavailableError):
        reruns_of(ledger, github).consider(CHECK)
    assert reruns_requested(github) == 0


def test_a_refusal_is_recorded_and_the_rerun_not_requested_again(
    dynamodb: "DynamoDBClient", github: SimulatedGitHub
) -> None:
    github.state.add_fault(kind="error", status=422, path="*/rerun-failed-jobs", times=None)
    ledger = ledger_on(dynamodb)
    interrupt(ledger, *JOBS)
    reruns = reruns_of(ledger, github)
    results = [reruns.consider(CHECK) for _ in range(2)]
    assert str(results[0]).startswith("refused: ")
    assert results[0] == results[1]
    assert all("rerun_refused" in history(dynamodb, job_id) for job_id in JOBS)


def test_a_run_that_was_cancelled_is_not_run_again(dynamodb: "DynamoDBClient", github: SimulatedGitHub) -> None:
    github.state.put("runs", RUN, conclusion="cancelled")
    ledger = ledger_on(dynamodb)
    interrupt(ledger, *JOBS)
    reruns = reruns_of(ledger, github, policy=RerunPolicy.ANY_FAILURE)
    assert reruns.consider(CHECK).outcome is RerunOutcome.CANCELLED
    assert reruns_requested(github) == 0


def test_an_interrupted_job_that_ended_as_cancelled_in_a_run_that_was_not_is_rerun(
    dynamodb: "DynamoDBClient", github: SimulatedGitHub
) -> None:
    github.state.put("jobs", JOBS[0], conclusion="cancelled")
    ledger = ledger_on(dynamodb)
    interrupt(ledger, *JOBS)
    assert reruns_of(ledger, github).consider(CHECK).outcome is RerunOutcome.REQUESTED


def test_a_403_is_tried_again_later_and_refused_in_the_end(dynamodb: "DynamoDBClient", github: SimulatedGitHub) -> None:
    github.state.add_fault(kind="error", status=403, path="*/rerun-failed-jobs", times=None)
    ledger = ledger_on(dynamodb)
    interrupt(ledger, *JOBS)
    for minutes in (0, 6, 12, 18):
        with pytest.raises(UnavailableError, match="can't be re-run yet"):
            reruns_of(ledger, github, time=later(minutes)).consider(CHECK)
    assert "rerun_refused" not in history(dynamodb, JOBS[0])
    assert reruns_of(ledger, github, time=later(24)).consider(CHECK).outcome is RerunOutcome.REFUSED
    assert "rerun_refused" in history(dynamodb, JOBS[0])


def test_a_run_that_github_no_longer_shows_is_tried_again_later_and_refused_in_the_end(
    dynamodb: "DynamoDBClient", github: SimulatedGitHub
) -> None:
    """The App was uninstalled, or the run deleted. A message that never succeeds would become a dead letter."""
    ledger, now = ledger_on(dynamodb), [time.time()]
    interrupt(ledger, 101)
    github.state.remove("installations", INSTALLATION)
    reruns = reruns_of(ledger, github, time=SystemClock(now=lambda: now[0]))
    with pytest.raises(UnavailableError, match="404"):
        reruns.consider(CHECK)
    now[0] += 25 * 60
    assert reruns.consider(CHECK).outcome is RerunOutcome.REFUSED
    assert "rerun_refused" in history(dynamodb, 101)


def test_a_403_that_ends_in_time_leads_to_a_rerun(dynamodb: "DynamoDBClient", github: SimulatedGitHub) -> None:
    github.state.add_fault(kind="error", status=403, path="*/rerun-failed-jobs", times=1)
    ledger = ledger_on(dynamodb)
    interrupt(ledger, *JOBS)
    with pytest.raises(UnavailableError):
        reruns_of(ledger, github).consider(CHECK)
    assert reruns_of(ledger, github, time=later(6)).consider(CHECK).outcome is RerunOutcome.REQUESTED


def later(minutes: int) -> SystemClock:
    return SystemClock(now=lambda: time.time() + 60 * minutes)


@pytest.mark.server
def test_concurrent_checks_of_a_run_make_one_call(
    dynamodb_local: "DynamoDBClient", dynamodb_local_url: str, github: SimulatedGitHub
) -> None:
    client = boto3.client("dynamodb", endpoint_url=dynamodb_local_url, config=Config(max_pool_connections=20))
    ledger = ledger_on(client)

    def one(job_id: int) -> RerunOutcome:
        interrupt(ledger, job_id)
        return reruns_of(ledger, github).consider(CHECK).outcome

    sequence = [job_id for job_id in JOBS for _ in range(5)]
    random.Random(1).shuffle(sequence)  # noqa: S311
    with ThreadPoolExecutor(max_workers=15) as pool:
        results = set(pool.map(one, sequence))
    client.close()
    assert results <= {RerunOutcome.REQUESTED, RerunOutcome.IN_PROGRESS, RerunOutcome.OWN_FAILURE}
    assert RerunOutcome.REQUESTED in results
    assert reruns_requested(github) == 1
    assert all("rerun_requested" in history(dynamodb_local, job_id) for job_id in JOBS)
