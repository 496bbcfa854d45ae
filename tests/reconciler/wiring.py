"""The reconciler's parts over clients of the test's choice, with a clock that the test sets."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from runledger.model import times
from runledger.model.reports import NO_INSTALLATION
from runledger.platform.clock import SystemClock
from runledger.reconciliation.bounds import Bounds
from runledger.reconciliation.cleanup import Cleanup, Registrations
from runledger.reconciliation.owners import Owners
from runledger.reconciliation.runners import RunnerCheck
from runledger.reconciliation.tally import Tally
from runledger.runners.fleet import Fleet
from runledger.runners.tracker import Runners
from runledger.tables.cleanups import CleanupLocks
from runledger.tables.installations import InstallationsRegistry
from runledger.tables.runners import RunnersTable
from runledger_github import registrations
from runledger_github.app import GitHubApp

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
    """Stands still until it is moved."""

    at: datetime = datetime(2025, 1, 15, 12, tzinfo=UTC)

    def move(self, **by: float) -> None:
        self.at += timedelta(**by)

    def seconds(self) -> float:
        return self.at.timestamp()

    def text(self, **earlier_by: float) -> str:
        return SystemClock(now=(self.at - timedelta(**earlier_by)).timestamp).text()


def runners_on(client: "DynamoDBClient") -> Runners:
    table = RunnersTable(client, RUNNERS, retention_days=14)
    return Runners(table=table, record=ledger_on(client).record, runner_tags=TAGS, scope=SCOPE)


def cleanup_on(
    client: "DynamoDBClient",
    *,
    ec2: Any,
    ecs: Any,
    registered: Registrations,
    clock: Clock,
    installation_ids: Sequence[int] = (INSTALLATION,),
) -> Cleanup:
    registry = InstallationsRegistry(client, JOBS)
    return Cleanup(
        runners=runners_on(client),
        locks=CleanupLocks(client, RUNNERS),
        jobs=ledger_on(client).jobs,
        fleet=Fleet(
            client=lambda service, _: {"ec2": ec2, "ecs": ecs}[service],
            scope=SCOPE,
            cluster="default",
            tags=TAGS,
            pool_tags=("pool",),
        ),
        owners=Owners(
            accounts=lambda: {each: REPOSITORIES[each].partition("/")[0] for each in installation_ids},
            repositories_without_app=lambda: registry.repositories(NO_INSTALLATION),
        ),
        registrations=registered,
        grace_seconds=GRACE_SECONDS,
        now=clock.text,
    )


def app_of(github: SimulatedGitHub, watch: Watch) -> GitHubApp:
    secret = json.dumps({"app_id": APP_ID, "private_key": github.state.credentials.private_key})
    return watched_app(secret, github.url, watch)


def registered_with(app: Any) -> registrations.Registrations:
    return registrations.Registrations(app=app, known_machines=lambda _: ())


def check_runners(cleanup: Cleanup, *, owner: str) -> Tally:
    """The part of a full pass that is about runners; what goes wrong on the way must not stay unseen."""
    tally = Tally(warn=_fail)
    bounds = Bounds(seconds_left=lambda: 600, share_left=lambda _: 1, share_for_others=0)
    now = cleanup.now()
    check = RunnerCheck(cleanup=cleanup, enforce=True)
    assert check.check(owner=owner, unmapped_too=True, now=now, bounds=bounds, tally=tally)
    return tally


def _fail(item: str, error: Exception) -> None:
    raise AssertionError(item) from error
