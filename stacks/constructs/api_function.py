"""The function behind the query and admin API. It is public, so it can neither read the App's key nor change a job."""

from collections.abc import Mapping

import aws_cdk as cdk
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs
from constructs import Construct
from runledger.tables import schema

from stacks.constructs.environment import stuck_thresholds
from stacks.constructs.feed import Feed
from stacks.constructs.function import LedgerFunction
from stacks.constructs.github_requests import SECONDS_FOR_THE_API_TO_WAIT
from stacks.constructs.layer import api_layer
from stacks.constructs.notifications import Notifications
from stacks.constructs.releases import Releases
from stacks.constructs.tables import TABLES, table_environment
from stacks.settings import Settings

# API Gateway closes the connection after 30 seconds.
TIMEOUT = cdk.Duration.seconds(29)
# Lambda assigns CPU in proportion to memory. This is one full CPU, which statistics over 100,000 jobs need.
MEMORY_MB = 1769
READ_ACTIONS = {
    "JOBS": ("dynamodb:Query", "dynamodb:BatchGetItem"),
    "JOB_EVENTS": ("dynamodb:Query",),
    "RUNS": ("dynamodb:GetItem", "dynamodb:BatchGetItem"),
    "DEPLOYMENTS": ("dynamodb:GetItem",),
    "RUNNERS": ("dynamodb:GetItem", "dynamodb:Query", "dynamodb:BatchGetItem"),
}
INDEXES = (
    *(("JOBS", index) for index in schema.WORKFLOW_JOBS.indexes),
    ("RUNNERS", schema.RUNNERS_BY_STATUS),
)


class ApiFunction(LedgerFunction):
    def __init__(
        self,
        scope: Construct,
        *,
        settings: Settings,
        layer: lambda_.ILayerVersion,
        tables: Mapping[str, dynamodb.Table],
        reconciler: lambda_.IFunction,
        github_requests: lambda_.IFunction,
        dead_letters: Mapping[str, sqs.IQueue],
        api_tokens: str,
        feed: Feed | None,
        notifications: Notifications | None,
        releases: Releases | None,
    ) -> None:
        """The API invokes `reconciler` and `github_requests`, and counts the messages in `dead_letters`."""
        super().__init__(
            scope,
            "api",
            settings=settings,
            layers=[layer, api_layer(scope, settings=settings)],
            timeout=TIMEOUT,
            memory_mb=MEMORY_MB,
            snap_start=settings.snap_start,
            environment={
                **table_environment(settings, tables, set(READ_ACTIONS)),
                **stuck_thresholds(settings),
                "ORPHAN_GRACE_MINUTES": str(settings.orphan_grace_minutes),
                "ORPHANS": settings.orphans,
                "API_TOKENS": api_tokens,
                "JWT_ISSUER": settings.jwt_issuer,
                "JWT_AUDIENCE": settings.jwt_audience,
                "GITHUB_REQUESTS_FUNCTION": github_requests.function_name,
                "GITHUB_REQUESTS_SECONDS": str(SECONDS_FOR_THE_API_TO_WAIT),
                "RECONCILER_FUNCTION": reconciler.function_name,
                "DEAD_LETTER_QUEUES": cdk.Stack.of(scope).to_json_string(_addresses(dead_letters)),
                **(feed.api_environment() if feed else {}),
                **(notifications.api_environment() if notifications else {}),
                **(releases.api_environment() if releases else {}),
            },
        )
        if feed:
            feed.allow_api(self)
        if notifications:
            notifications.allow_api(self)
        if releases:
            releases.allow_api(self)
        for table, actions in READ_ACTIONS.items():
            self.allow(tables[TABLES[table]].table_arn, *actions)
        for table, index in INDEXES:
            self.allow(f"{tables[TABLES[table]].table_arn}/index/{index.name}", "dynamodb:Query")
        self.allow(api_tokens, "secretsmanager:GetSecretValue")
        for queue in dead_letters.values():
            self.allow(queue.queue_arn, "sqs:GetQueueAttributes")
        for invoked in (reconciler, github_requests):
            self.allow(invoked.function_arn, "lambda:InvokeFunction")
        self._allow_pass_requests(tables[TABLES["RUNNERS"]].table_arn)

    def _allow_pass_requests(self, runners_arn: str) -> None:
        """In the runners table, the API can write requests for passes, but no runners."""
        self.function.add_to_role_policy(
            iam.PolicyStatement(
                actions=["dynamodb:UpdateItem"],
                resources=[runners_arn],
                conditions={"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": [schema.PASSES]}},
            )
        )


def _addresses(queues: Mapping[str, sqs.IQueue]) -> dict[str, str]:
    """The URL of the first queue, and the names of the others: URLs begin alike, and an environment holds 4 KB."""
    names = {name: queue.queue_name for name, queue in queues.items()}
    first = next(iter(queues))
    return names | {first: queues[first].queue_url}
