"""The function that calls GitHub for the API: it can read the App's key, and only the API invokes it."""

import math
from collections.abc import Mapping, Sequence

import aws_cdk as cdk
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from constructs import Construct
from runledger.tables import schema

from stacks.constructs import environment
from stacks.constructs.function import LedgerFunction
from stacks.constructs.tables import TABLES, table_environment
from stacks.settings import Settings

# The API waits for this function. The API has 29 seconds, of which it may have spent 12 waiting for another reader's
# claim, and it also needs time to connect, to check the token and to read the tables.
TIMEOUT = cdk.Duration.seconds(12)
SECONDS_FOR_THE_API_TO_WAIT = math.ceil(TIMEOUT.to_seconds()) + 1
GITHUB_PATIENCE_SECONDS = 5
CACHE_ACTIONS = {
    "RUNS": ("dynamodb:GetItem", "dynamodb:UpdateItem"),
    "DEPLOYMENTS": ("dynamodb:GetItem", "dynamodb:UpdateItem"),
}


class GitHubRequestsFunction(LedgerFunction):
    def __init__(
        self,
        scope: Construct,
        *,
        settings: Settings,
        tables: Mapping[str, dynamodb.Table],
        layers: Sequence[lambda_.ILayerVersion],
        github_app: str,
    ) -> None:
        super().__init__(
            scope,
            "github_requests",
            settings=settings,
            layers=layers,
            timeout=TIMEOUT,
            environment={
                **table_environment(settings, tables, {"JOBS", *CACHE_ACTIONS}),
                **environment.github_app(settings, github_app),
                "GITHUB_PATIENCE_SECONDS": str(GITHUB_PATIENCE_SECONDS),
            },
        )
        for table, actions in CACHE_ACTIONS.items():
            self.allow(tables[TABLES[table]].table_arn, *actions)
        self.allow(github_app, "secretsmanager:GetSecretValue")
        self._allow_registry(tables[TABLES["JOBS"]].table_arn)

    def _allow_registry(self, jobs_arn: str) -> None:
        """In the jobs table, the function can read the accounts of installations, but no jobs."""
        self.function.add_to_role_policy(
            iam.PolicyStatement(
                actions=["dynamodb:GetItem"],
                resources=[jobs_arn],
                conditions={"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": [schema.REGISTRY]}},
            )
        )
