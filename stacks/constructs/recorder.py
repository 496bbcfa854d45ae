"""Functions that record in the ledger. All of them use the same tables and queues."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import aws_cdk as cdk
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs
from constructs import Construct
from runledger.tables import schema

from stacks.constructs.function import LedgerFunction
from stacks.settings import Settings

# Keys are the prefixes of environment variables: see `TableSettings` in `runledger.wiring.settings`.
TABLES = {
    "JOBS": schema.WORKFLOW_JOBS.name,
    "JOB_EVENTS": schema.WORKFLOW_JOB_EVENTS.name,
    "RUNS": schema.WORKFLOW_RUNS.name,
    "DEPLOYMENTS": schema.DEPLOYMENTS.name,
    "RUNNERS": schema.RUNNERS.name,
    "FEED": schema.FEED.name,
}
RECORDS = {
    "JOBS": ("dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem"),
    "JOB_EVENTS": ("dynamodb:PutItem",),
    "RUNS": ("dynamodb:UpdateItem",),
    "DEPLOYMENTS": ("dynamodb:GetItem", "dynamodb:UpdateItem"),
}
READS_RUNNERS = {"RUNNERS": ("dynamodb:GetItem", "dynamodb:UpdateItem")}
# A retry looks for events that its earlier attempt has written and no job has saved.
TRACKS_RUNNERS = {**READS_RUNNERS, "JOB_EVENTS": ("dynamodb:Query",)}


@dataclass(frozen=True, kw_only=True)
class Recorder:
    """The tables and queues that all functions that record share, in every stack."""

    settings: Settings
    tables: Mapping[str, dynamodb.Table]
    runner_lookups: sqs.IQueue
    rerun_checks: sqs.IQueue

    def function(
        self,
        scope: Construct,
        name: str,
        *,
        layers: Sequence[lambda_.ILayerVersion],
        timeout: cdk.Duration,
        environment: Mapping[str, str] | None = None,
        more: Mapping[str, Sequence[str]] | None = None,
        snap_start: bool = False,
        reserved_concurrency: int | None = None,
    ) -> LedgerFunction:
        """`more` has further tables, and the actions that this function needs on them."""
        function = LedgerFunction(
            scope,
            name,
            settings=self.settings,
            layers=layers,
            timeout=timeout,
            snap_start=snap_start,
            reserved_concurrency=reserved_concurrency,
            environment={
                **table_environment(self.settings, self.tables, {*RECORDS, *(more or {})}),
                "RUNNER_LOOKUPS_QUEUE": self.runner_lookups.queue_url,
                "RERUN_CHECKS_QUEUE": self.rerun_checks.queue_url,
                "INSTANCE_ID_PATTERN": self.settings.instance_id_pattern,
                "RERUN": self.settings.rerun,
                **(environment or {}),
            },
        )
        for table, actions in (*RECORDS.items(), *(more or {}).items()):
            function.allow(self.tables[TABLES[table]].table_arn, *actions)
        function.allow(self.runner_lookups.queue_arn, "sqs:SendMessage")
        function.allow(self.rerun_checks.queue_arn, "sqs:SendMessage")
        return function


def table_environment(settings: Settings, tables: Mapping[str, dynamodb.Table], prefixes: set[str]) -> dict[str, str]:
    names = {prefix: TABLES[prefix] for prefix in sorted(prefixes)}
    return {
        **{f"{prefix}_TABLE": tables[name].table_name for prefix, name in names.items()},
        **{f"{prefix}_RETENTION_DAYS": str(settings.retention_days[name]) for prefix, name in names.items()},
    }
