"""What the storage phases with S3 add. Only loaded in those phases."""

import time
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from runledger.migration import copies, telemetry
from runledger.migration.copies import CopyWebhook, Pause, WebhookCopies
from runledger.migration.key_pattern import KeyPattern
from runledger.migration.phases import StoragePhase
from runledger.migration.runner_configs import FindMachineWithFallback, RunnerConfigs
from runledger.model.instance import FindMachine
from runledger.model.reports import Input
from runledger.model.runs import RerunPolicy
from runledger.platform.clients import client
from runledger.recording import telemetry as recording_telemetry
from runledger.recording.decision import Decision
from runledger.recording.follow_up_queue import NoFollowUps
from runledger.recording.ledger import Ledger
from runledger.tables.deployments import DeploymentsTable
from runledger.tables.events import EventsTable
from runledger.tables.gates import Gates
from runledger.tables.installations import InstallationsRegistry
from runledger.tables.jobs import JobsTable
from runledger.tables.runs import RunsTable
from runledger.webhooks.intake import Intake
from runledger.wiring.settings import CopySettings, RunnerConfigSettings, TableSettings

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


def with_copies(intake: Intake) -> Intake:
    settings = CopySettings.from_environment()
    pattern = KeyPattern.parse(settings.webhook_key_pattern)  # checked before the deployment
    copy = CopyWebhook(copies=_copies(settings), pattern=pattern, retries=intake.retries, pause=Pause(time.monotonic))
    if StoragePhase(settings.storage_phase).reads_runner_configs:
        return replace(intake, copy=copy, ledger=replace(intake.ledger, recorded=_recorded))
    return replace(intake, copy=copy)


def put_copy(message: str, settings: CopySettings) -> None:
    """Writes a copy from the retry queue. Without a bucket, the phase has changed since the message was sent."""
    copy = copies.from_message(message)
    if settings.webhook_bucket:
        _copies(settings).put(copy)
    else:
        telemetry.copy_lost(copy.key, "the storage phase no longer writes to S3")


def with_fallback(find_machine: FindMachine, *, runner_tags: Mapping[str, str]) -> FindMachine:
    settings = RunnerConfigSettings.from_environment()
    configs = RunnerConfigs(client("s3"), settings.runner_config_bucket, role_ids=settings.runner_role_ids)
    return FindMachineWithFallback(
        find_machine=find_machine,
        configs=configs,
        looked_up=lambda runner_id, in_s3: telemetry.scheduling_looked_up(runner_id, in_s3=in_s3),
        rejected=telemetry.runner_config_rejected,
        runner_tags=runner_tags,
    )


def ledger_without_follow_ups(variables: Mapping[str, str], dynamodb: "DynamoDBClient") -> Ledger:
    """For imports, which send no lookups and no re-run checks.

    `variables` holds the environment of a function that records, which names the tables.
    """

    def table(word: str) -> TableSettings:
        return TableSettings(table=variables[f"{word}_TABLE"], retention_days=int(variables[f"{word}_RETENTION_DAYS"]))

    jobs, events, runs, deployments = map(table, ("JOBS", "JOB_EVENTS", "RUNS", "DEPLOYMENTS"))
    return Ledger(
        jobs=JobsTable(dynamodb, jobs.table, retention_days=jobs.retention_days),
        events=EventsTable(dynamodb, events.table, retention_days=events.retention_days),
        installations=InstallationsRegistry(dynamodb, jobs.table),
        runs=RunsTable(dynamodb, runs.table, retention_days=runs.retention_days),
        deployments=DeploymentsTable(dynamodb, deployments.table, retention_days=deployments.retention_days),
        gates=Gates(dynamodb, deployments.table, retention_days=deployments.retention_days),
        follow_ups=NoFollowUps(),
        rerun=RerunPolicy.NEVER,
    )


@cache
def _copies(settings: CopySettings) -> WebhookCopies:
    """Every job webhook needs the client, so it is created at startup and included in the SnapStart snapshot."""
    return WebhookCopies(client("s3"), settings.webhook_bucket)


def _recorded(received: Input, decision: Decision | None) -> None:
    recording_telemetry.recorded(received, decision)
    if decision and decision.is_news:
        telemetry.scheduling_found(decision)
