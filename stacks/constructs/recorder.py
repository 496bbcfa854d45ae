"""Functions that record in the ledger. All of them use the same tables and queues."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import aws_cdk as cdk
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from stacks.constructs.function import LedgerFunction
from stacks.constructs.tables import TABLES, table_environment
from stacks.settings import Settings

RECORDING_ACTIONS = {
    "JOBS": ("dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem"),
    "JOB_EVENTS": ("dynamodb:PutItem",),
    "RUNS": ("dynamodb:UpdateItem",),
    "DEPLOYMENTS": ("dynamodb:GetItem", "dynamodb:UpdateItem"),
}
RUNNER_ACTIONS = {"RUNNERS": ("dynamodb:GetItem", "dynamodb:UpdateItem")}
# A retry looks for events that its earlier attempt has written and no job has saved.
TRACKING_ACTIONS = {**RUNNER_ACTIONS, "JOB_EVENTS": ("dynamodb:Query",)}


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
                **table_environment(self.settings, self.tables, {*RECORDING_ACTIONS, *(more or {})}),
                "RUNNER_LOOKUPS_QUEUE": self.runner_lookups.queue_url,
                "RERUN_CHECKS_QUEUE": self.rerun_checks.queue_url,
                "INSTANCE_ID_PATTERN": self.settings.instance_id_pattern,
                "RERUN": self.settings.rerun,
                **(environment or {}),
            },
        )
        for table, actions in (*RECORDING_ACTIONS.items(), *(more or {}).items()):
            function.allow(self.tables[TABLES[table]].table_arn, *actions)
        function.allow(self.runner_lookups.queue_arn, "sqs:SendMessage")
        function.allow(self.rerun_checks.queue_arn, "sqs:SendMessage")
        return function
