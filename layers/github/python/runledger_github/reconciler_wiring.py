"""Composition of the reconciler, the only function that may stop a machine."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cache

from runledger.feeds import findings
from runledger.model import times
from runledger.model.inputs import Status
from runledger.model.job import Job
from runledger.model.ownership import is_known
from runledger.model.passes import OrphanMode
from runledger.model.reports import NO_INSTALLATION
from runledger.model.stuck import stuck_since
from runledger.platform.clients import client, lazy_client
from runledger.platform.clock import SystemClock
from runledger.queries import forgotten_approvals
from runledger.queries.forgotten_approvals import ForgottenApproval
from runledger.reconciliation import metrics
from runledger.reconciliation.approvals import ApprovalCheck
from runledger.reconciliation.awaited_runners import AwaitedRunners
from runledger.reconciliation.cleanup import Cleanup
from runledger.reconciliation.deliveries import DeliveryCheck
from runledger.reconciliation.installations import InstallationCheck
from runledger.reconciliation.jobs import JobCheck
from runledger.reconciliation.orphans import Waits
from runledger.reconciliation.owners import Owners
from runledger.reconciliation.passes import Pass
from runledger.reconciliation.reconciler import Reconciler
from runledger.reconciliation.requests import RunnerRequests
from runledger.reconciliation.runners import RunnerCheck
from runledger.reconciliation.uninstalled import UninstalledCheck
from runledger.tables.absences import Absences
from runledger.tables.cleanups import CleanupLocks
from runledger.tables.lost_deliveries import LostDeliveries
from runledger.wiring import feeds
from runledger.wiring.recording import ledger
from runledger.wiring.runner_tables import passes
from runledger.wiring.runners import fleet, tracker
from runledger.wiring.settings import Settings, TableSettings
from runledger.wiring.stuck import patience
from runledger.wiring.tables import installations, jobs

from runledger_github.registrations import Registrations
from runledger_github.state import GitHubState
from runledger_github.wiring import CachedPerApp, github_state, pending_approvals

clock = SystemClock()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReconcilerSettings(Settings):
    event_bus: str
    orphans: OrphanMode
    orphan_grace_minutes: int
    runner_registration_minutes: int
    redeliveries_at_most: int
    github_budget_for_others_percent: int


@cache
def settings() -> ReconcilerSettings:
    return ReconcilerSettings.from_environment()


@CachedPerApp
def cleanup() -> Cleanup:
    github = github_state()
    registrations = _registrations(github) if github else None
    owners = Owners(
        accounts=github.accounts if github else dict,
        former_accounts=installations().named,
        repositories_without_app=lambda: installations().repositories(NO_INSTALLATION),
    )
    return Cleanup(
        tracker=tracker(),
        locks=CleanupLocks(client("dynamodb"), TableSettings.of("RUNNERS").table),
        jobs=jobs(),
        fleet=fleet(),
        owners=owners,
        registrations=registrations,
        awaited=AwaitedRunners(owners=owners, registrations=registrations, github=github),
        waits=Waits(
            grace_seconds=settings().orphan_grace_minutes * times.SECONDS_PER_MINUTE,
            registration_seconds=settings().runner_registration_minutes * times.SECONDS_PER_MINUTE,
        ),
        now=clock.text,
    )


@CachedPerApp
def reconciler() -> Reconciler:
    github = github_state()
    feeds.queue()  # created before the first pass
    return Reconciler(
        installations=installations(),
        jobs=JobCheck(
            jobs=jobs(),
            runs=ledger().runs,
            record=ledger().record,
            report=ledger().dispatch,
            requests=RunnerRequests(events=lazy_client("events"), bus=settings().event_bus, record=ledger().record),
            describe=fleet().describe,
            confirmed=_confirmed,
            absences=Absences(client("dynamodb"), TableSettings.of("RUNNERS").table),
            github=github,
            patience=patience(),
            notify=_notify_stuck,
        ),
        runners=RunnerCheck(cleanup=cleanup(), enforce=settings().orphans is OrphanMode.ENFORCE),
        approvals=ApprovalCheck(find=_find_and_notify_forgotten),
        deliveries=_deliveries(github) if github else None,
        confirmation=InstallationCheck(registry=installations(), github=github) if github else None,
        uninstalled=_uninstalled() if github else None,
        passes=passes(),
        share_left=github.share_left if github else _none_left,
        finish_within=github.app.deadline.finish_within if github else _ignore_deadline,
        share_for_others=settings().github_budget_for_others_percent / 100,
        warn=metrics.failed,
        time=clock,
    )


def _confirmed(runner_ids: Iterable[str]) -> list[str]:
    """Machines in scope that EC2 or ECS has reported before. If they aren't there now, they are gone."""
    found = tracker().table.among(runner_ids)
    return [runner_id for runner_id, runner in found.items() if tracker().is_in_scope(runner)]


def _uninstalled() -> UninstalledCheck:
    return UninstalledCheck(
        registry=installations(), jobs=jobs(), runs=ledger().runs, record=ledger().record, report=ledger().dispatch
    )


def _deliveries(github: GitHubState) -> DeliveryCheck:
    lost = LostDeliveries(client("dynamodb"), TableSettings.of("RUNNERS").table)
    return DeliveryCheck(log=github.app, lost=lost, at_most=settings().redeliveries_at_most)


def _known_machines(machine_ids: set[str]) -> set[str]:
    """Returns the ids that EC2 or ECS describes or has confirmed, or that a publisher without limits has reported.

    Reports of a limited publisher don't count. It may report any id, and the busy runner of another owner would then be
    taken for that machine.
    """
    described = fleet().describe(machine_ids) if machine_ids else {}
    recorded = tracker().table.among(machine_ids - described.keys())
    return {*described, *(each for each, runner in recorded.items() if is_known(runner))}


def _registrations(github: GitHubState) -> Registrations:
    return Registrations(app=github.app, known_machines=_known_machines, clock=clock.now)


def _find_forgotten(installation_ids: Sequence[int], current: Pass) -> Iterable[ForgottenApproval]:
    """Without time or rate limit, the stored status is used, which takes no call to GitHub."""
    before = clock.text(seconds_from_now=-patience().waiting_hours * times.SECONDS_PER_HOUR)

    def pending(job: Job) -> bool:
        return pending_approvals().is_pending(job, may_ask=current.may_ask(job.installation_id))

    return forgotten_approvals.find(jobs(), installation_ids, waiting_since_before=before, is_pending=pending)


def _find_and_notify_forgotten(installation_ids: Sequence[int], current: Pass) -> Iterable[ForgottenApproval]:
    found = list(_find_forgotten(installation_ids, current))
    if found and (feed := feeds.queue()):
        with current.tally.isolated("the feed"):
            feed.send(findings.forgotten_approval(asdict(each), at=current.now) for each in found)
    return found


def _notify_stuck(stuck: Sequence[Job], now: str) -> None:
    """Forgotten approvals have their own events."""
    waiting_for_a_runner = [job for job in stuck if job.status is not Status.WAITING]
    if waiting_for_a_runner and (feed := feeds.queue()):
        dated = [(job, stuck_since(job, now=now, patience=patience())) for job in waiting_for_a_runner]
        feed.send(findings.stuck_job(job, since=since, at=now) for job, since in dated if since)


def _none_left(_installation_id: int) -> float:
    return 0.0


def _ignore_deadline(_seconds: float) -> None:
    """Without an App, GitHub is never called."""
