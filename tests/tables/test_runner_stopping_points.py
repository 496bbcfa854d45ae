"""Every flow of runners that stops at any call and is tried again leaves the same tables as one that didn't stop."""

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest
from runledger.model.follow_ups import RunnerLookup
from runledger.model.inputs import Lifecycle
from runledger.model.instance import Instance, RunnerKind
from runledger.model.prices import Price
from runledger.model.runs import RerunOutcome
from runledger.platform.clock import SystemClock
from runledger.recording.ledger import Ledger
from runledger.runners import aws_events
from runledger.runners.lookups import MachineLookups
from runledger.runners.tracker import RunnerTracker
from runledger.tables.runners import RunnersTable

from local.github import SimulatedGitHub
from tests.simulation.engine import Engine
from tests.support import runner_events
from tests.support.beds import dump, empty
from tests.support.ledgers import RUNNERS, ledger_on
from tests.support.runner_events import INSTANCE, SCOPE
from tests.support.stopping import Stopped, Stopper
from tests.support.webhooks import IN_PROGRESS, INSTALLATION, JOB, QUEUED, REPO, receipt
from tests.tables.test_reruns import CHECK, JOBS, github, interrupt, reruns_of, reruns_requested

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

pytestmark = pytest.mark.walk

__all__ = ["github"]  # a fixture

Step = Callable[[Ledger, RunnerTracker], object]
FOUND = Instance(
    runner_id=INSTANCE,
    kind=RunnerKind.EC2,
    state="running",
    instance_type="c7g.large",
    lifecycle=Lifecycle.SPOT,
    launched_at="2025-01-15T10:01:00.000Z",
    tags={"ghr:Application": "github-action-runner"},
)


def launcher(detail_type: str, **more: Any) -> Step:
    event = runner_events.launcher(detail_type, **more)
    return lambda _, runners: runner_events.publish(event, runners)


def aws(event: dict[str, Any]) -> Step:
    return lambda _, runners: aws_events.record(event, runners)


def webhook(step: str, **more: Any) -> Step:
    return lambda ledger, _: ledger.record(receipt(step, **more))


def lookup(_: Ledger, runners: RunnerTracker) -> None:
    task = RunnerLookup(
        installation_id=INSTALLATION,
        job_id=JOB,
        runner_id=INSTANCE,
        kind="ec2",
        repo_full_name=REPO,
        at="2025-01-15T10:02:31.000Z",
    )
    MachineLookups(tracker=runners, find_machine=lambda *_: FOUND, find_price=lambda _: Price()).look_up(task)


# When the claim of the stopped process has ended.
TWO_MINUTES_LATER = SystemClock(now=lambda: time.time() + 120)
SCHEDULED = launcher("runner_scheduled")
FLOWS: dict[str, tuple[list[Step], Step]] = {
    "scheduled, before its webhook": ([], SCHEDULED),
    "scheduled": ([webhook(QUEUED)], SCHEDULED),
    "rescheduled": ([SCHEDULED], launcher("runner_rescheduled", runner_id="i-0bbbbbbbbbbbbbbb0", minute=3)),
    "attached": ([SCHEDULED], aws(runner_events.instance_state("running"))),
    "interrupted": ([SCHEDULED, webhook(IN_PROGRESS, at=150)], aws(runner_events.interruption())),
    "interrupted, before it is known whose it is": ([], aws(runner_events.interruption())),
    "terminated": (
        [SCHEDULED, webhook(IN_PROGRESS, at=150)],
        aws(runner_events.instance_state("terminated", minute=7)),
    ),
    "scheduled, after its interruption": ([aws(runner_events.interruption())], SCHEDULED),
    "looked up": ([webhook(IN_PROGRESS, at=150)], lookup),
    "stolen": ([launcher("runner_scheduled", job_id=1), webhook(IN_PROGRESS, at=150)], lookup),
    "scheduled, after the theft": ([webhook(IN_PROGRESS, at=150), lookup], launcher("runner_scheduled", job_id=1)),
}


@pytest.fixture
def dynamodb() -> Any:
    """Tables in memory: a walk makes thousands of calls."""
    return Engine()


def play(client: Any, steps: list[Step]) -> None:
    ledger = ledger_on(client)
    runners = RunnerTracker(table=RunnersTable(client, RUNNERS, retention_days=14), record=ledger.record, scope=SCOPE)
    for step in steps:
        step(ledger, runners)


@pytest.mark.parametrize(("past", "step"), FLOWS.values(), ids=FLOWS)
def test_a_stop_anywhere_in_the_events_of_a_runner_ends_in_the_same_tables(
    dynamodb: "DynamoDBClient", past: list[Step], step: Step
) -> None:
    play(dynamodb, [*past, step])
    undisturbed = dump(dynamodb)
    for number, after in ((number, after) for number in count(1) for after in (False, True)):
        empty(dynamodb)
        play(dynamodb, past)
        stopper = Stopper(dynamodb, at_call=number, after=after)
        try:
            play(stopper, [step])
        except Stopped:
            play(dynamodb, [step])
            assert dump(dynamodb) == undisturbed
        if not stopper.stopped:
            break
    assert number > 1


class StoppableInstallation:
    """GitHub's responses pass through the same stopper as AWS's do."""

    def __init__(self, installation: Any, stopper: Any) -> None:
        self._installation = installation
        self._stopper = stopper

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._installation, name)
        return lambda *arguments: self._stopper.through(lambda: method(*arguments))


def _given(stoppable: StoppableInstallation, _installation_id: int) -> Any:
    return stoppable


def test_a_rerun_is_requested_once_wherever_it_is_stopped(
    dynamodb: "DynamoDBClient",
    github: SimulatedGitHub,
) -> None:
    for number, after in ((number, after) for number in count(1) for after in (False, True)):
        empty(dynamodb)
        github.state.reset()
        github.state.put("installations", INSTALLATION, account=REPO.partition("/")[0])
        github.state.put("runs", CHECK.run_id, repository=REPO, status="completed", conclusion="failure")
        for job_id in JOBS:
            github.state.put("jobs", job_id, run_id=CHECK.run_id, status="completed", conclusion="failure")
        interrupt(ledger_on(dynamodb), *JOBS)
        stopper: Any = Stopper(dynamodb, at_call=number, after=after)
        reruns = reruns_of(ledger_on(stopper), github)
        stoppable = StoppableInstallation(reruns.github(INSTALLATION), stopper)
        try:
            replace(reruns, github=partial(_given, stoppable)).consider(CHECK)
        except Stopped:
            later = reruns_of(ledger_on(dynamodb), github, time=TWO_MINUTES_LATER)
            assert later.consider(CHECK).outcome is RerunOutcome.REQUESTED
        assert reruns_requested(github) == 1
        if not stopper.stopped:
            break
    assert number > 5
