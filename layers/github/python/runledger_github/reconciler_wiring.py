"""Composition of the reconciler, the only function that may terminate a machine."""

from collections.abc import Sequence
from dataclasses import asdict
from functools import cache

from runledger.feeds import findings
from runledger.model import times
from runledger.model.dataclass import dataclass
from runledger.model.job import Job
from runledger.model.passes import OrphanMode
from runledger.model.reports import NO_INSTALLATION
from runledger.platform.clients import client, lazy_client
from runledger.platform.clock import SystemClock
from runledger.queries.forgotten_approvals import ForgottenApproval
from runledger.reconciliation import metrics
from runledger.reconciliation.approvals import ApprovalCheck
from runledger.reconciliation.awaited_runners import AwaitedRunners
from runledger.reconciliation.cleanup import Cleanup
from runledger.reconciliation.deliveries import DeliveryCheck
from runledger.reconciliation.installations import InstallationCheck
from runledger.reconciliation.jobs import JobCheck
from runledger.reconciliation.known_machines import KnownMachines
from runledger.reconciliation.orphans import Waits
from runledger.reconciliation.owners import Owners
from runledger.reconciliation.reconciler import Reconciler
from runledger.reconciliation.runner_requests import RunnerRequests
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
from runledger.wiring.stuck import stuck_thresholds
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


@cache
def waits() -> Waits:
    return Waits(
        grace_seconds=settings().orphan_grace_minutes * times.SECONDS_PER_MINUTE,
        registration_seconds=settings().runner_registration_minutes * times.SECONDS_PER_MINUTE,
    )


@CachedPerApp
def owners() -> Owners:
    github = github_state()
    return Owners(
        accounts=github.accounts if github else dict,
        former_accounts=installations().named,
        repositories_without_app=lambda: installations().repositories(NO_INSTALLATION),
    )


@CachedPerApp
def cleanup() -> Cleanup:
    github = github_state()
    registrations = _registrations(github) if github else None
    return Cleanup(
        tracker=tracker(),
        locks=CleanupLocks(client("dynamodb"), TableSettings.of("RUNNERS").table),
        jobs=jobs(),
        fleet=fleet(),
        owners=owners(),
        registrations=registrations,
        awaited=AwaitedRunners(owners=owners(), registrations=registrations, github=github),
        waits=waits(),
        now=clock.text,
    )


def _runner_check() -> RunnerCheck:
    return RunnerCheck(
        cleanup=cleanup(),
        tracker=tracker(),
        jobs=jobs(),
        fleet=fleet(),
        owners=owners(),
        waits=waits(),
        enforce=settings().orphans is OrphanMode.ENFORCE,
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
            confirmed_in_scope=_known_machines().confirmed_in_scope,
            absences=Absences(client("dynamodb"), TableSettings.of("RUNNERS").table),
            github=github,
            thresholds=stuck_thresholds(),
            notify=_send_stuck,
        ),
        runners=_runner_check(),
        cleanup=cleanup(),
        approvals=ApprovalCheck(
            jobs=jobs(),
            pending=pending_approvals(),
            forgotten_approval_hours=stuck_thresholds().forgotten_approval_hours,
            notify=_send_forgotten,
        ),
        deliveries=_deliveries(github) if github else None,
        reported_installations=InstallationCheck(registry=installations(), github=github) if github else None,
        uninstalled=_uninstalled() if github else None,
        passes=passes(),
        share_left=github.share_left if github else _none_left,
        finish_within=github.app.deadline.finish_within if github else _ignore_deadline,
        share_for_others=settings().github_budget_for_others_percent / 100,
        warn=metrics.failed,
        time=clock,
    )


def _uninstalled() -> UninstalledCheck:
    return UninstalledCheck(
        registry=installations(), jobs=jobs(), runs=ledger().runs, record=ledger().record, report=ledger().dispatch
    )


def _deliveries(github: GitHubState) -> DeliveryCheck:
    lost = LostDeliveries(client("dynamodb"), TableSettings.of("RUNNERS").table)
    return DeliveryCheck(log=github.app, lost=lost, at_most=settings().redeliveries_at_most)


def _known_machines() -> KnownMachines:
    return KnownMachines(fleet=fleet(), tracker=tracker())


def _registrations(github: GitHubState) -> Registrations:
    return Registrations(app=github.app, known_machines=_known_machines().among, clock=clock.now)


def _send_stuck(stuck: Sequence[tuple[Job, str]], now: str) -> None:
    if stuck and (feed := feeds.queue()):
        feed.send(findings.stuck_job(job, since=since, at=now) for job, since in stuck)


def _send_forgotten(forgotten: Sequence[ForgottenApproval], now: str) -> None:
    if forgotten and (feed := feeds.queue()):
        feed.send(findings.forgotten_approval(asdict(each), at=now) for each in forgotten)


def _none_left(_installation_id: int) -> float:
    return 0.0


def _ignore_deadline(_seconds: float) -> None:
    """Without an App, GitHub is never called."""
