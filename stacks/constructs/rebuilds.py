"""The queues and functions for publications and rebuilds. Part of `stacks.constructs.releases`."""

from collections.abc import Mapping, Sequence

import aws_cdk as cdk
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs
from constructs import Construct
from runledger.tables.release_keys import ItemKind

from stacks.constructs.conditions import only_keys
from stacks.constructs.environment import github_app
from stacks.constructs.function import LedgerFunction
from stacks.constructs.queues import queue_with_dead_letters
from stacks.settings import Settings

PUBLICATIONS_TIMEOUT = cdk.Duration.minutes(1)
# Less than STALE_SECONDS of `runledger.releases.lines`: an older claim belongs to a process that died.
REBUILDS_TIMEOUT = cdk.Duration.minutes(2)
GITHUB_PATIENCE_SECONDS = 10
# What the functions for publications and for rebuilds update.
PUBLISHED = (*(ItemKind.PACKAGES, ItemKind.VERSIONS, ItemKind.REPOSITORY, ItemKind.DEPENDENTS, ItemKind.LINE),)
CLAIMED = (ItemKind.LINE, ItemKind.DISPATCHES)


class Rebuilds(Construct):
    """Only `release_rebuilds` can read the App's key."""

    def __init__(
        self,
        scope: Construct,
        *,
        settings: Settings,
        layers: Sequence[lambda_.ILayerVersion],
        environment: Mapping[str, str],
        table_arn: str,
        github_app: str,
    ) -> None:
        super().__init__(scope, "Rebuilds")
        self._settings, self._environment, self._table_arn = settings, environment, table_arn
        self.inputs = self._queue(
            "ReleaseInputs",
            PUBLICATIONS_TIMEOUT,
            fifo=True,
            deduplication_scope=sqs.DeduplicationScope.MESSAGE_GROUP,
            fifo_throughput_limit=sqs.FifoThroughputLimit.PER_MESSAGE_GROUP_ID,
        )
        self._rebuilds = self._queue("Rebuilds", REBUILDS_TIMEOUT)
        self._publications(layers[0])
        self._dispatches(layers, github_app)

    def inputs_environment(self) -> dict[str, str]:
        """The environment of functions that send publications."""
        return {"RELEASE_INPUTS_QUEUE": self.inputs.queue_url}

    def allow_inputs(self, function: LedgerFunction) -> None:
        function.allow(self.inputs.queue_arn, "sqs:SendMessage")

    def lines_environment(self) -> dict[str, str]:
        """The environment of functions that send release lines."""
        return {"REBUILDS_QUEUE": self._rebuilds.queue_url}

    def allow_lines(self, function: LedgerFunction) -> None:
        function.allow(self._rebuilds.queue_arn, "sqs:SendMessage")

    def _queue(self, name: str, timeout: cdk.Duration, **options: object) -> sqs.Queue:
        return queue_with_dead_letters(
            self,
            name,
            settings=self._settings,
            function_timeout=timeout,
            weak=True,
            removal_policy=cdk.RemovalPolicy.DESTROY,
            **options,
        )

    def _publications(self, layer: lambda_.ILayerVersion) -> None:
        function = LedgerFunction(
            self,
            "release_publications",
            settings=self._settings,
            layers=[layer],
            timeout=PUBLICATIONS_TIMEOUT,
            environment={
                **self._environment,
                **self.lines_environment(),
                "REBUILD_DEPENDENTS": self._settings.rebuild_dependents,
            },
        )
        function.allow(self._table_arn, "dynamodb:GetItem", "dynamodb:Query", "dynamodb:BatchGetItem")
        function.allow(
            self._table_arn, "dynamodb:PutItem", conditions=items_of(ItemKind.VERSIONS, ItemKind.LINE, ItemKind.LINES)
        )
        function.allow(self._table_arn, "dynamodb:UpdateItem", conditions=items_of(*PUBLISHED))
        function.allow(
            self._table_arn, "dynamodb:DeleteItem", conditions=items_of(ItemKind.DEPENDENTS, ItemKind.REPOSITORY)
        )
        self.allow_lines(function)
        function.consume(self.inputs, batch_size=1)

    def _dispatches(self, layers: Sequence[lambda_.ILayerVersion], app: str) -> None:
        function = LedgerFunction(
            self,
            "release_rebuilds",
            settings=self._settings,
            layers=layers,
            timeout=REBUILDS_TIMEOUT,
            sends_to_itself=True,  # a line, while GitHub is unavailable or its rate limit is used up
            environment={
                **self._environment,
                **self.lines_environment(),
                **github_app(self._settings, app),
                "GITHUB_PATIENCE_SECONDS": str(GITHUB_PATIENCE_SECONDS),
            },
        )
        function.allow(self._table_arn, "dynamodb:GetItem", "dynamodb:Query")
        function.allow(self._table_arn, "dynamodb:PutItem", conditions=items_of(ItemKind.REBUILD))
        function.allow(self._table_arn, "dynamodb:UpdateItem", conditions=items_of(*CLAIMED))
        function.allow(app, "secretsmanager:GetSecretValue")
        self.allow_lines(function)
        function.consume(self._rebuilds, batch_size=1)


def items_of(*kinds: str) -> dict[str, object]:
    """Items of these kinds, for every installation."""
    return only_keys(*(pattern for kind in kinds for pattern in (f"*#{kind}", f"*#{kind}#*")))
