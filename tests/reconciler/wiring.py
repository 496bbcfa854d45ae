"""The reconciler's parts with the clients and the clock of a test."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from runledger.model import times
from runledger.model.passes import PassKind
from runledger.model.reports import NO_INSTALLATION
from runledger.platform.clock import SystemClock
from runledger.reconciliation import registrations as protocol
from runledger.reconciliation.awaited_runners import AwaitedRunners
from runledger.reconciliation.bounds import Bounds
from runledger.reconciliation.cleanup import Cleanup, CleanupOutcome
from runledger.reconciliation.orphans import Waits
from runledger.reconciliation.owners import Owners
from runledger.reconciliation.passes import Pass
from runledger.reconciliation.runners import RunnerCheck
from runledger.reconciliation.tally import Tally
from runledger.runners.fleet import Fleet
from runledger.runners.tracker import RunnerTracker
from runledger.tables.cleanups import CleanupLocks
from runledger.tables.installations import InstallationsRegistry
from runledger.tables.runners import RunnersTable
from runledger_github.app import GitHubApp
from runledger_github.registrations import Registrations
from runledger_github.state import GitHubState

from local.github import SimulatedGitHub
from local.github.credentials import APP_ID
from tests.reconciler.watching import Watch, watched_app
from tests.support.ledgers import JOBS, RUNNERS, ledger_on
from tests.support.runner_events import SCOPE
from tests.support.webhooks import INSTALLATION, REPO

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

ORG = REPO.partition("/")[0]
STRANGER, STRANGERS_REPO = 666, "mallory/prank"
REPOSITORIES = {INSTALLATION: REPO, STRANGER: STRANGERS_REPO}
TAGS = {"runner": "yes"}
GRACE_MINUTES = 10
GRACE_SECONDS = GRACE_MINUTES * times.SECONDS_PER_MINUTE


@dataclass
class Clock:
    """Changes only if a test moves it."""

    at: datetime = datetime(2025, 1, 15, 12, tzinfo=UTC)

    def move(self, **by: float) -> None:
        self.at += timedelta(**by)

    def seconds(self) -> float:
        return self.at.timestamp()

    def text(self, **earlier_by: float) -> str:
        return SystemClock(now=(self.at - timedelta(**earlier_by)).timestamp).text()


def runners_on(client: "DynamoDBClient") -> RunnerTracker:
    table = RunnersTable(client, RUNNERS, retention_days=14)
    return RunnerTracker(table=table, record=ledger_on(client).record, runner_tags=TAGS, scope=SCOPE)


def cleanup_on(
    client: "DynamoDBClient",
    *,
    ec2: Any,
    ecs: Any,
    app: Any,
    clock: Clock,
    registrations: protocol.Registrations | None = None,
) -> Cleanup:
    """`registrations` replaces those of the App."""
    registry = InstallationsRegistry(client, JOBS)
    known = GitHubState(app=app, clock=clock.seconds)
    registered = registrations or Registrations(app=app, known_machines=lambda _: ())
    owners = Owners(
        accounts=known.accounts,
        former_accounts=registry.named,
        repositories_without_app=lambda: registry.repositories(NO_INSTALLATION),
    )
    return Cleanup(
        tracker=runners_on(client),
        locks=CleanupLocks(client, RUNNERS),
        jobs=ledger_on(client).jobs,
        fleet=Fleet(
            client=lambda service, _: {"ec2": ec2, "ecs": ecs}[service],
            scope=SCOPE,
            clusters=("default", "runners"),
            tags=TAGS,
            pool_tags=("pool",),
        ),
        owners=owners,
        registrations=registered,
        awaited=AwaitedRunners(owners=owners, registrations=registered, github=known),
        waits=Waits(grace_seconds=GRACE_SECONDS, registration_seconds=GRACE_SECONDS),
        now=clock.text,
    )


def app_of(github: SimulatedGitHub, watch: Watch) -> GitHubApp:
    secret = json.dumps({"app_id": APP_ID, "private_key": github.state.credentials.private_key})
    return watched_app(secret, github.url, watch)


def check_runners(cleanup: Cleanup, *, pass_id: str) -> Tally:
    """The part of a full pass that checks runners. Errors fail the test."""
    current = pass_at(cleanup.now(), pass_id=pass_id)
    assert runner_check(cleanup).check(current)
    return current.tally


def runner_check(cleanup: Cleanup) -> RunnerCheck:
    return RunnerCheck(
        cleanup=cleanup,
        tracker=cleanup.tracker,
        jobs=cleanup.jobs,
        fleet=cleanup.fleet,
        owners=cleanup.owners,
        waits=cleanup.waits,
        enforce=True,
    )


def clean(cleanup: Cleanup, runner_id: str, *, pass_id: str) -> CleanupOutcome:
    """Run a cleanup, as a person requests it."""
    return cleanup.clean(runner_id, pass_at(cleanup.now(), pass_id=pass_id, kind=PassKind.CLEANUP))


def pass_at(now: str, *, pass_id: str, kind: PassKind = PassKind.FULL) -> Pass:
    """A pass without limits of time or budget."""
    bounds = Bounds(seconds_left=lambda: 600, share_left=lambda _: 1, share_for_others=0)
    return Pass(id=pass_id, kind=kind, now=now, bounds=bounds, tally=Tally(warn=_fail), requested_by="ada")


def _fail(item: str, error: Exception) -> None:
    raise AssertionError(item) from error
