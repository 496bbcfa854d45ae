"""Heads and releases: their functions and queues, and what they add to other functions. See docs/releases.md.

A setting turns them on and off, so other stacks refer to their parts weakly, as they do to the feed's.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_lambda as lambda_
from constructs import Construct
from runledger.releases.heads import BY_ANYONE
from runledger.tables import schema
from runledger.tables.release_keys import ItemKind

from stacks.constructs.function import LedgerFunction
from stacks.constructs.rebuilds import Rebuilds, items_of
from stacks.constructs.streams import CHANGED, StreamReader, discarded_records
from stacks.constructs.tables import TABLES, fixed_table_arn, table_environment, table_names
from stacks.settings import Settings

STREAM_TIMEOUT = cdk.Duration.minutes(1)
RECORDS_IN_A_BATCH = 100
# The reports about a run follow each other within seconds, and those in one batch need only one write.
GATHER = cdk.Duration.seconds(5)
# Runs of these events don't count for a branch.
PULL_REQUESTS = ["pull_request", "pull_request_target", "pull_request_review", "pull_request_review_comment"]
OTHER_EVENTS = [*PULL_REQUESTS, *sorted(BY_ANYONE)]
# Other changes are about runs and deployments that GitHub hasn't reported.
FILTERS: Mapping[str, Mapping[str, Any]] = {
    "RUNS": CHANGED | {"dynamodb": {"NewImage": {"event": {"S": [{"anything-but": OTHER_EVENTS}]}}}},
    "DEPLOYMENTS": CHANGED | {"dynamodb": {"NewImage": {"head_sha": {"S": [{"exists": True}]}}}},
}
# What the streams change: heads, and the runs of rebuilds in release lines.
SAVED_HEADS = (ItemKind.HEADS, ItemKind.BRANCH_HEADS, ItemKind.ENVIRONMENTS)
RECORDED = (ItemKind.RUNS, ItemKind.BRANCH_RUNS, ItemKind.COMMITS, ItemKind.DEPLOYMENTS, ItemKind.LINE)
# What the API writes.
REPORTED = (ItemKind.BUILD, ItemKind.FILE)
UPDATED = (
    *(ItemKind.PACKAGES, ItemKind.REPOSITORY, ItemKind.DEPENDENTS, ItemKind.BUILDS, ItemKind.PACKAGE_HEADS),
    schema.POSTS,
)
API_ACTIONS = ("dynamodb:GetItem", "dynamodb:Query", "dynamodb:BatchGetItem")


class Releases(Construct):
    """`layers` are the domain layer and the GitHub layer."""

    def __init__(
        self,
        scope: Construct,
        *,
        settings: Settings,
        tables: Mapping[str, dynamodb.Table],
        layers: Sequence[lambda_.ILayerVersion],
        github_app: str,
    ) -> None:
        super().__init__(scope, "Releases")
        self._settings, self._tables = settings, tables
        self._domain = layers[0]
        self._table_arn = fixed_table_arn(self, schema.RELEASES.name, settings)
        self._rebuilds = Rebuilds(
            self,
            settings=settings,
            layers=layers,
            environment=self._environment(),
            table_arn=self._table_arn,
            github_app=github_app,
        )
        self._stream()

    def intake_environment(self) -> dict[str, str]:
        return self._rebuilds.inputs_environment()

    def allow_intake(self, function: LedgerFunction) -> None:
        """One message for each publication."""
        self._rebuilds.allow_inputs(function)

    def api_environment(self) -> dict[str, str]:
        return self._environment() | self._rebuilds.inputs_environment()

    def allow_api(self, function: LedgerFunction) -> None:
        """The API reads everything, stores the builds and packages that publishers report, and queues publications. It
        can't write heads or lines.
        """
        function.allow(self._table_arn, *API_ACTIONS)
        function.allow(self._table_arn, "dynamodb:PutItem", conditions=items_of(*REPORTED))
        function.allow(self._table_arn, "dynamodb:UpdateItem", conditions=items_of(*REPORTED, *UPDATED))
        function.allow(
            self._table_arn, "dynamodb:DeleteItem", conditions=items_of(ItemKind.DEPENDENTS, ItemKind.REPOSITORY)
        )
        self._rebuilds.allow_inputs(function)

    def _stream(self) -> None:
        discarded = discarded_records(self, "ReleaseStreamDeadLetters", settings=self._settings)
        function = LedgerFunction(
            self,
            "release_stream",
            settings=self._settings,
            layers=[self._domain],
            timeout=STREAM_TIMEOUT,
            environment={
                **self._environment(),
                **self._rebuilds.lines_environment(),
                **table_names(self._settings, self._tables, FILTERS),
                "RELEASE_STREAM_DEAD_LETTERS": discarded.queue_url,
            },
        )
        function.allow(self._table_arn, "dynamodb:GetItem", "dynamodb:Query")
        function.allow(self._table_arn, "dynamodb:PutItem", conditions=items_of(*SAVED_HEADS))
        function.allow(self._table_arn, "dynamodb:UpdateItem", conditions=items_of(*RECORDED))
        self._rebuilds.allow_lines(function)
        reader = StreamReader(function, settings=self._settings, discarded=discarded)
        for name, pattern in FILTERS.items():
            reader.read(TABLES[name], pattern, batch_size=RECORDS_IN_A_BATCH, gather=GATHER)

    def _environment(self) -> dict[str, str]:
        return table_environment(self._settings, self._tables, {"RELEASES"})
