"""What happens without a request: launchers speak on the bus, and schedules look after what nobody asks about."""

from collections.abc import Mapping

import aws_cdk as cdk
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from constructs import Construct
from runledger.tables import schema

from stacks import compliance
from stacks.function import LedgerFunction
from stacks.layer import domain_layer, github_layer
from stacks.parts import queue, secret
from stacks.settings import Settings


class EventsStack(cdk.Stack):
    def __init__(
        self, scope: Construct, construct_id: str, *, settings: Settings, tables: Mapping[str, dynamodb.Table]
    ) -> None:
        super().__init__(scope, construct_id, termination_protection=not settings.throw_away)
        self._settings = settings
        self._tables = tables
        self._bus = events.EventBus(self, "Bus", event_bus_name=f"runledger-{settings.stage}")
        self._github_app = secret(
            self,
            "GitHubApp",
            settings=settings,
            description='The GitHub App that asks: {"app_id": ..., "private_key": "PEM"}, or {} for none.',
            secret_string_value=cdk.SecretValue.unsafe_plain_text("{}"),
        )
        self._layers = [domain_layer(self, settings=settings), github_layer(self, settings=settings)]
        self._forgotten_approvals()
        cdk.CfnOutput(self, "EventBusName", value=self._bus.event_bus_name)
        cdk.CfnOutput(self, "GitHubAppSecretArn", value=self._github_app)

    def _forgotten_approvals(self) -> None:
        jobs = self._tables[schema.WORKFLOW_JOBS.name]
        deployments = self._tables[schema.DEPLOYMENTS.name]
        function = LedgerFunction(
            self,
            "forgotten_approvals",
            settings=self._settings,
            layers=self._layers,
            timeout=cdk.Duration.minutes(5),
            environment={
                "JOBS_TABLE": jobs.table_name,
                "JOBS_RETENTION_DAYS": str(self._settings.retention_days[schema.WORKFLOW_JOBS.name]),
                "DEPLOYMENTS_TABLE": deployments.table_name,
                "DEPLOYMENTS_RETENTION_DAYS": str(self._settings.retention_days[schema.DEPLOYMENTS.name]),
                "GITHUB_APP": self._github_app,
                "GITHUB_API_URL": self._settings.github_api_url,
                "FORGOTTEN_APPROVAL_HOURS": str(self._settings.forgotten_approval_hours),
            },
        )
        function.allow(jobs.table_arn, "dynamodb:Query", "dynamodb:BatchGetItem")
        function.allow(f"{jobs.table_arn}/index/{schema.BY_STATUS.name}", "dynamodb:Query")
        function.allow(deployments.table_arn, "dynamodb:GetItem", "dynamodb:UpdateItem")
        function.allow(self._github_app, "secretsmanager:GetSecretValue")
        missed = queue(self, "ScheduleDeadLetters", settings=self._settings)
        compliance.accept(missed, "AwsSolutions-SQS3", "It is itself the dead-letter queue of a schedule's target.")
        events.Rule(
            self,
            "EveryHour",
            schedule=events.Schedule.rate(cdk.Duration.hours(1)),
            targets=[targets.LambdaFunction(function.function, dead_letter_queue=missed, retry_attempts=2)],
        )
