"""One full pass over a large fleet: every job is checked, with one call to GitHub per run."""

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from runledger.model.job import Job
from runledger.model.passes import PassKind
from runledger.model.reports import RunReport, RunStatus
from runledger.model.stuck import StuckThresholds
from runledger.platform.clock import SystemClock
from runledger.reconciliation.approvals import ApprovalCheck
from runledger.reconciliation.deliveries import DeliveryCheck
from runledger.reconciliation.installations import InstallationCheck
from runledger.reconciliation.jobs import JobCheck
from runledger.reconciliation.reconciler import Reconciler
from runledger.reconciliation.runner_requests import RunnerRequests
from runledger.reconciliation.summary import PassReport
from runledger.reconciliation.tally import Count
from runledger.tables.absences import Absences
from runledger.tables.lost_deliveries import LostDeliveries
from runledger.tables.passes import PassesTable
from runledger_github.approvals import PendingApprovals
from runledger_github.state import GitHubState

from local.aws import emulator
from local.github import SimulatedGitHub
from tests.reconciler.orphans import ran_on
from tests.reconciler.watching import Unwatched
from tests.reconciler.wiring import ORG, TAGS, Clock, app_of, cleanup_on, runner_check, runners_on
from tests.support.beds import create_tables, empty
from tests.support.ledgers import RUNNERS, ledger_on
from tests.support.runner_items import launched
from tests.support.synthesis import Templates
from tests.support.webhooks import INSTALLATION, QUEUED, REPO, receipt

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

pytestmark = [pytest.mark.server, pytest.mark.walk]

THRESHOLDS = StuckThresholds(
    stuck_queued_minutes=10,
    stuck_scheduled_minutes=10,
    long_running_hours=6,
    forgotten_approval_hours=24,
    runner_requests_at_most=5,
)
# Of twenty jobs: how they stand here, and on GitHub. All have been so for an hour.
STANDS = (
    *(("in_progress", "in_progress"),) * 17,
    ("queued", "queued"),
    ("in_progress", "completed"),
    ("queued", "completed"),
)
JOBS_OF_A_RUN = "GET /repos/{owner}/{repo}/actions/runs/{run_id}/attempts/{attempt_number}/jobs"
A_FEW = 5  # a token, and the log of deliveries


class Fleet:
    """Jobs and machines are put where they are found, without the way that they came."""

    def __init__(self, dynamodb: "DynamoDBClient", github: SimulatedGitHub, *, runs: int, jobs_a_run: int) -> None:
        self.clock = Clock(at=datetime.now(UTC) + timedelta(hours=1))
        self._dynamodb, self._github = dynamodb, github
        self._ledger, self._runners = ledger_on(dynamodb), runners_on(dynamodb)
        github.state.configure(rate_limit=15_000)
        jobs = runs * jobs_a_run
        self.machines = self._launch(jobs)
        self._ledger.installations.register(
            installation_id=INSTALLATION, org_name=ORG, repo_full_name=REPO, first_seen_at=self.clock.text(hours=2)
        )
        for number in range(runs):
            self._put_run(1 + number)
        for number in range(jobs):
            self._put(1 + number, 1 + number % runs, *STANDS[number % len(STANDS)])

    def _launch(self, number: int) -> list[str]:
        tags = [{"ResourceType": "instance", "Tags": [{"Key": name, "Value": value} for name, value in TAGS.items()]}]
        calls_to = {"MinCount": number, "MaxCount": number, "TagSpecifications": tags}
        started = boto3.client("ec2").run_instances(ImageId="ami-12c6146b", **calls_to)
        return [each["InstanceId"] for each in started["Instances"]]

    def _put_run(self, run_id: int) -> None:
        self._github.state.put("runs", run_id, repository=REPO)
        self._ledger.runs.absorb(
            RunReport(
                installation_id=INSTALLATION,
                run_id=run_id,
                run_attempt=1,
                reported_at=self.clock.text(hours=1),
                status=RunStatus.IN_PROGRESS,
                created_at=self.clock.text(hours=1),
                repo_full_name=REPO,
            )
        )

    def _put(self, job_id: int, run_id: int, here: str, there: str) -> None:
        """Every machine has a job: that of a queued job was launched for another one, long completed."""
        machine, at = self.machines[job_id - 1], self.clock.text(hours=1)
        there_on = ran_on(machine, job_id)
        queued = receipt(QUEUED, job_id=job_id, run_id=run_id, created_at=at, started_at=at)
        job = replace(Job.opened_by(replace(queued, received_at=at)).absorb(replace(queued, received_at=at)), version=0)
        if here == "in_progress":
            started = receipt("in_progress", job_id=job_id, run_id=run_id, created_at=at, started_at=at, **there_on)
            job = replace(job.absorb(replace(started, received_at=at)), instance_id=machine)
        self._ledger.jobs.save(None, job)
        about: dict[str, Any] = {"installation_id": INSTALLATION, "repo_full_name": REPO, "kind": "ec2", "at": at}
        whose = job_id if here == "in_progress" else 1_000_000 + job_id
        launched(self._runners.table, machine, job_id=whose, **about)
        on_github: dict[str, Any] = {"run_id": run_id, "status": there, "created_at": at, "started_at": at}
        if there == "completed":
            on_github |= {"completed_at": at, "conclusion": "success"}
        self._github.state.put("jobs", job_id, **on_github | (there_on if here == "in_progress" else {}))

    def reconcile(self) -> PassReport:
        state = GitHubState(app=app_of(self._github, Unwatched()))
        clock = SystemClock(now=self.clock.seconds)
        cleanup = cleanup_on(
            self._dynamodb,
            ec2=boto3.client("ec2"),
            ecs=boto3.client("ecs"),
            app=state.app,
            clock=self.clock,
        )
        requests = RunnerRequests(events=boto3.client("events"), bus="default", record=self._ledger.record)
        jobs = JobCheck(
            jobs=self._ledger.jobs,
            runs=self._ledger.runs,
            record=self._ledger.record,
            report=self._ledger.dispatch,
            requests=requests,
            describe=cleanup.fleet.describe,
            confirmed_in_scope=lambda runner_ids: runner_ids,
            absences=Absences(self._dynamodb, RUNNERS),
            github=state,
            thresholds=THRESHOLDS,
        )
        reconciler = Reconciler(
            installations=self._ledger.installations,
            jobs=jobs,
            runners=runner_check(cleanup),
            cleanup=cleanup,
            approvals=ApprovalCheck(
                jobs=self._ledger.jobs,
                pending=PendingApprovals(deployments=self._ledger.deployments, cache=None),
                forgotten_approval_hours=24,
            ),
            deliveries=DeliveryCheck(log=state.app, lost=LostDeliveries(self._dynamodb, RUNNERS), at_most=3),
            reported_installations=InstallationCheck(registry=self._ledger.installations, github=state),
            uninstalled=None,
            passes=PassesTable(self._dynamodb, RUNNERS),
            share_left=state.share_left,
            finish_within=lambda _: None,
            share_for_others=0,
            warn=lambda item, error: pytest.fail(f"{item}: {error}"),
            time=clock,
        )
        return reconciler.run(PassKind.FULL, pass_id="large", seconds_left=lambda: 600, requested_by=None)


@pytest.fixture
def dynamodb(tmp_path: Path, templates: Templates, monkeypatch: pytest.MonkeyPatch) -> Iterator["DynamoDBClient"]:
    """The emulated AWS: moto would take a minute for as many items."""
    with emulator.running(tmp_path) as url:
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        client = boto3.client("dynamodb")
        create_tables(client, templates["data"])
        yield client
        client.close()


def calls_to(github: SimulatedGitHub) -> Counter[str]:
    """Calls by route, whatever the response."""
    calls: Counter[str] = Counter()
    for (route, _), number in github.state.calls.items():
        calls[route] += number
    return calls


def test_a_pass_over_300_jobs_and_300_runners_makes_one_call_per_run(
    dynamodb: "DynamoDBClient", github: SimulatedGitHub, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet = Fleet(dynamodb, github, runs=30, jobs_a_run=10)
    began = time.perf_counter()
    report = fleet.reconcile()
    took, calls = time.perf_counter() - began, calls_to(github)
    with capsys.disabled():
        print(f"\n300 jobs in 30 runs, 300 runners: {took:.1f} s, {sum(calls.values())} calls to GitHub")
    counts = report.tally.counts
    assert report.outcome == "success"
    assert (counts[Count.RUNS_ASKED], counts[Count.RUNNERS], counts[Count.INSTANCES]) == (30, 300, 300)
    assert (counts[Count.HEALED], counts[Count.RUNNERS_REQUESTED]) == (2 * 15, 15)
    assert counts[Count.DETECTED] == 2 * 15  # the jobs that these were launched for are not recorded
    assert calls[JOBS_OF_A_RUN] == 30
    assert calls.total() <= 2 * 30 + A_FEW  # and once more for a run whose jobs are all over


def test_calls_to_github_grow_with_runs_and_not_with_jobs(dynamodb: "DynamoDBClient", github: SimulatedGitHub) -> None:
    Fleet(dynamodb, github, runs=20, jobs_a_run=1).reconcile()
    few_jobs = calls_to(github)
    empty(dynamodb)
    github.state.reset()
    github.state.put("installations", INSTALLATION, account=ORG)
    Fleet(dynamodb, github, runs=20, jobs_a_run=10).reconcile()
    assert calls_to(github) == few_jobs
    assert few_jobs[JOBS_OF_A_RUN] == 20
