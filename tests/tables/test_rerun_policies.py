"""The setting `rerun`: after which failures the failed jobs of a run are re-run."""

from typing import TYPE_CHECKING, Any

import pytest
from runledger.model.reports import RunReport
from runledger.model.runs import RerunOutcome, RerunPolicy
from runledger.recording.ledger import Ledger
from runledger.webhooks.readers import dispatcher

from local.github import SimulatedGitHub
from tests.support import messages
from tests.support.beds import items
from tests.support.ledgers import RUNS, RememberedFollowUps, ledger_on
from tests.support.webhooks import COMPLETED, DEPLOYMENT, IN_PROGRESS, RUN, delivery, payload, receipt
from tests.tables.test_reruns import CHECK, JOBS, github, history, interrupt, reruns_of, reruns_requested
from tests.tables.test_runs import take

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

__all__ = ["github"]

ANY_FAILURE, INTERRUPTED, NEVER = RerunPolicy.ANY_FAILURE, RerunPolicy.INTERRUPTED, RerunPolicy.NEVER


def fail(ledger: Ledger, *job_ids: int, **changes: Any) -> None:
    """The jobs fail without an interruption."""
    for job_id in job_ids:
        ledger.record(receipt(IN_PROGRESS, job_id=job_id, guid=f"started {job_id}", **changes))
        ledger.record(receipt(COMPLETED, job_id=job_id, guid=f"ended {job_id}", conclusion="failure", **changes))


def deploy(ledger: Ledger, job_id: int, **changes: Any) -> None:
    """A job that deploys to an environment, and succeeds."""
    deployment = {"deployment": {"id": DEPLOYMENT, "environment": "production"}}
    body = payload(COMPLETED, job_id=job_id, **changes) | deployment
    for entry in dispatcher.read(delivery(body, guid=f"deployed {job_id}")):
        ledger.dispatch(entry)


def end(ledger: Ledger, conclusion: str) -> None:
    event, body = messages.run("completed")
    body["workflow_run"]["conclusion"] = conclusion
    take(ledger, (event, body), guid="the end of the run", at=1000)


@pytest.mark.parametrize(
    ("policy", "conclusion", "considered"),
    [
        (ANY_FAILURE, "failure", True),
        (ANY_FAILURE, "timed_out", True),
        (ANY_FAILURE, "success", False),
        (ANY_FAILURE, "cancelled", False),
        (ANY_FAILURE, "startup_failure", False),
        (INTERRUPTED, "failure", False),
        (NEVER, "failure", False),
    ],
)
def test_only_any_failure_considers_a_run_that_failed_for_its_own_reason(
    dynamodb: "DynamoDBClient", policy: RerunPolicy, conclusion: str, considered: bool
) -> None:
    follow_ups = RememberedFollowUps()
    ledger = ledger_on(dynamodb, follow_ups=follow_ups, rerun=policy)
    fail(ledger, *JOBS)
    end(ledger, conclusion)
    assert [type(run) for run in follow_ups.reruns] == [RunReport] * considered


@pytest.mark.parametrize(("policy", "considered"), [(ANY_FAILURE, True), (INTERRUPTED, True), (NEVER, False)])
def test_only_never_ignores_an_interrupted_run(
    dynamodb: "DynamoDBClient", policy: RerunPolicy, considered: bool
) -> None:
    follow_ups = RememberedFollowUps()
    ledger = ledger_on(dynamodb, follow_ups=follow_ups, rerun=policy)
    interrupt(ledger, *JOBS)
    end(ledger, "failure")
    assert bool(follow_ups.reruns) is considered


def test_any_failure_reruns_once_and_the_history_of_each_failed_job_shows_it(
    dynamodb: "DynamoDBClient", github: SimulatedGitHub
) -> None:
    ledger = ledger_on(dynamodb)
    fail(ledger, *JOBS)
    reruns = reruns_of(ledger, github, policy=ANY_FAILURE)
    assert [reruns.consider(CHECK).outcome for _ in range(3)] == [RerunOutcome.REQUESTED] * 3
    assert reruns_requested(github) == 1
    assert all("rerun_requested" in history(dynamodb, job_id) for job_id in JOBS)


def test_a_check_that_was_queued_before_reruns_were_switched_off_does_nothing(
    dynamodb: "DynamoDBClient", github: SimulatedGitHub
) -> None:
    ledger = ledger_on(dynamodb)
    interrupt(ledger, *JOBS)
    assert reruns_of(ledger, github, policy=NEVER).consider(CHECK).outcome is RerunOutcome.SWITCHED_OFF
    assert reruns_requested(github) == 0


@pytest.mark.parametrize("broken", ["failed", "interrupted"])
def test_any_failure_never_reruns_a_run_with_a_job_behind_an_environment(
    dynamodb: "DynamoDBClient", github: SimulatedGitHub, broken: str
) -> None:
    ledger = ledger_on(dynamodb)
    deploy(ledger, 7)
    (fail if broken == "failed" else interrupt)(ledger, *JOBS)
    reruns = reruns_of(ledger, github, policy=ANY_FAILURE)
    assert [reruns.consider(CHECK).outcome for _ in range(2)] == [RerunOutcome.BEHIND_AN_ENVIRONMENT] * 2
    assert reruns_requested(github) == 0
    assert "rerun_refused" in history(dynamodb, JOBS[0])
    (run,) = items(dynamodb, RUNS)
    assert run["rerun_result"] == RerunOutcome.BEHIND_AN_ENVIRONMENT


def test_any_failure_remembers_the_environment_of_an_earlier_attempt(
    dynamodb: "DynamoDBClient", github: SimulatedGitHub
) -> None:
    ledger = ledger_on(dynamodb)
    deploy(ledger, 7)
    github.state.put("runs", RUN, run_attempt=2)
    github.state.put("jobs", 201, run_id=RUN, run_attempt=2, status="completed", conclusion="failure")
    fail(ledger, 201, run_attempt=2)
    second = type(CHECK)(
        installation_id=CHECK.installation_id, repo_full_name=CHECK.repo_full_name, run_id=RUN, run_attempt=2
    )
    assert (
        reruns_of(ledger, github, policy=ANY_FAILURE, at_most=5).consider(second).outcome
        is RerunOutcome.BEHIND_AN_ENVIRONMENT
    )


def test_interrupted_still_reruns_a_run_with_a_job_behind_an_environment(
    dynamodb: "DynamoDBClient", github: SimulatedGitHub
) -> None:
    ledger = ledger_on(dynamodb)
    deploy(ledger, 7)
    interrupt(ledger, *JOBS)
    assert reruns_of(ledger, github).consider(CHECK).outcome is RerunOutcome.REQUESTED


def test_any_failure_requests_nothing_when_github_lists_no_failed_job(
    dynamodb: "DynamoDBClient", github: SimulatedGitHub
) -> None:
    for job_id in JOBS:
        github.state.put("jobs", job_id, conclusion="success")
    assert (
        reruns_of(ledger_on(dynamodb), github, policy=ANY_FAILURE).consider(CHECK).outcome
        is RerunOutcome.NO_FAILED_JOBS
    )
    assert reruns_requested(github) == 0
