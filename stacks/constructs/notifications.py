"""Notifications: their queues and functions, and what they add to the API. See docs/notifications.md.

A setting turns them on and off, so other stacks refer to their parts weakly, as they do to the feed's.
"""

import json
from collections.abc import Mapping

import aws_cdk as cdk
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_scheduler as scheduler
from aws_cdk import aws_sqs as sqs
from constructs import Construct
from runledger.tables import schema

from stacks.constructs import compliance
from stacks.constructs.conditions import only_keys
from stacks.constructs.environment import stuck_thresholds
from stacks.constructs.function import LedgerFunction
from stacks.constructs.queues import dead_letters, queue_with_dead_letters
from stacks.constructs.streams import StreamReader
from stacks.constructs.tables import TABLES, fixed_table_arn, table_environment
from stacks.settings import Settings

ROUTER_TIMEOUT = cdk.Duration.minutes(1)
# An attempt takes at most 15 seconds, and a message's lease is two minutes: see `runledger.notifications.sender`.
SENDER_TIMEOUT = cdk.Duration.minutes(1)
SCHEDULES_TIMEOUT = cdk.Duration.minutes(4)
TICK = cdk.Duration.minutes(5)
RECORDS_IN_A_BATCH = 25
NEW_EVENTS = {"eventName": ["INSERT"], "dynamodb": {"NewImage": {"event_type": {"S": [{"exists": True}]}}}}
ROUTER_ACTIONS = ("dynamodb:Query", "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem")
SENDER_ACTIONS = ("dynamodb:Query", "dynamodb:GetItem", "dynamodb:UpdateItem")
SCHEDULES_ACTIONS = (*ROUTER_ACTIONS, "dynamodb:BatchGetItem")
API_ACTIONS = ("dynamodb:Query", "dynamodb:GetItem", "dynamodb:BatchGetItem")
# A digest reads the same tables and indexes as the API's statistics.
DIGEST_ACTIONS = {"JOBS": ("dynamodb:Query", "dynamodb:BatchGetItem"), "DEPLOYMENTS": ("dynamodb:GetItem",)}
DIGEST_INDEXES = (schema.BY_STATUS, schema.BY_COMPLETION)


class Notifications(Construct):
    def __init__(
        self,
        scope: Construct,
        *,
        settings: Settings,
        tables: Mapping[str, dynamodb.Table],
        layer: lambda_.ILayerVersion,
    ) -> None:
        super().__init__(scope, "Notifications")
        self._settings, self._tables, self._layer = settings, tables, layer
        self._table_arn = fixed_table_arn(self, schema.NOTIFICATIONS.name, settings)
        self.queues = [self._queue(name) for name in ("Notifications", "NotificationsSlow")]
        self._router()
        self._sender()
        self._schedules()

    def api_environment(self) -> dict[str, str]:
        """As little as possible, because a function's environment holds 4 KB: the names of targets without their ARNs,
        and only the fast queue, because the API sends no messages to the slow one.
        """
        fast, _ = self.queues
        settings = self._settings
        return {
            **table_environment(self._settings, self._tables, {"NOTIFICATIONS"}),
            "NOTIFICATIONS_QUEUE": fast.queue_url,
            **self._channels(
                topics=dict.fromkeys(settings.notification_sns_topics, ""),
                buses=dict.fromkeys(settings.notification_event_buses, ""),
            ),
            **self._limit(),
            "NOTIFICATION_SECRETS": self._secret_prefix,
        }

    def allow_api(self, function: LedgerFunction) -> None:
        """Subscriptions and messages. The API can write secrets, but not read them."""
        function.allow(self._table_arn, *API_ACTIONS)
        for index in (schema.MESSAGES_BY_STATUS, schema.MESSAGES_BY_TYPE, schema.MESSAGES_BY_CREATION):
            function.allow(f"{self._table_arn}/index/{index.name}", "dynamodb:Query")
        subscriptions, health = f"*#{schema.SUBSCRIPTIONS}", f"*#{schema.HEALTH}"
        messages = f"*#{schema.MESSAGES}#*"
        function.allow(
            self._table_arn,
            "dynamodb:PutItem",
            conditions=only_keys(subscriptions, messages, schema.SUBSCRIBERS),
        )
        counts = f"*#{schema.HOURS}#{schema.ALL}"
        function.allow(self._table_arn, "dynamodb:UpdateItem", conditions=only_keys(messages, counts))
        function.allow(self._table_arn, "dynamodb:DeleteItem", conditions=only_keys(subscriptions, health))
        function.allow(self.queues[0].queue_arn, "sqs:SendMessage")
        self._allow_secrets(
            function, "secretsmanager:CreateSecret", "secretsmanager:PutSecretValue", "secretsmanager:DeleteSecret"
        )

    def _queue(self, name: str) -> sqs.Queue:
        return queue_with_dead_letters(
            self,
            name,
            settings=self._settings,
            function_timeout=SENDER_TIMEOUT,
            weak=True,
            removal_policy=cdk.RemovalPolicy.DESTROY,
        )

    def _router(self) -> None:
        discarded = dead_letters(
            self,
            "NotificationRouterDeadLetters",
            settings=self._settings,
            reason="It is itself the destination of events that can't be routed.",
            weak=True,
            removal_policy=cdk.RemovalPolicy.DESTROY,
        )
        function = self._function(
            "notification_router",
            timeout=ROUTER_TIMEOUT,
            environment={"NOTIFICATION_ROUTER_DEAD_LETTERS": discarded.queue_url, **self._limit()},
        )
        function.allow(self._table_arn, *ROUTER_ACTIONS)
        function.allow(self.queues[0].queue_arn, "sqs:SendMessage")
        reader = StreamReader(function, settings=self._settings, discarded=discarded)
        reader.read(schema.FEED.name, NEW_EVENTS, batch_size=RECORDS_IN_A_BATCH)

    def _sender(self) -> None:
        function = self._function(
            "notification_sender",
            timeout=SENDER_TIMEOUT,
            environment={
                **table_environment(self._settings, self._tables, {"FEED"}),
                **self._channels(
                    topics=self._settings.notification_sns_topics, buses=self._settings.notification_event_buses
                ),
            },
            # Each retry, and each pause of its receiver, queues the same message again. This ends after a day.
            sends_to_itself=True,
        )
        function.allow(self._table_arn, *SENDER_ACTIONS)
        function.allow(self._tables[schema.FEED.name].table_arn, "dynamodb:UpdateItem")
        for queue in self.queues:
            function.allow(queue.queue_arn, "sqs:SendMessage")
            function.consume(queue, batch_size=1)
        self._allow_secrets(function, "secretsmanager:GetSecretValue")
        for arn in self._settings.notification_sns_topics.values():
            function.allow(arn, "sns:Publish")
        for arn in self._settings.notification_event_buses.values():
            function.allow(arn, "events:PutEvents")

    def _schedules(self) -> None:
        read = {
            **table_environment(self._settings, self._tables, {*DIGEST_ACTIONS}),
            **stuck_thresholds(self._settings),
        }
        function = self._function("notification_schedules", timeout=SCHEDULES_TIMEOUT, environment=read)
        function.allow(self._table_arn, *SCHEDULES_ACTIONS)
        function.allow(f"{self._table_arn}/index/{schema.MESSAGES_DUE.name}", "dynamodb:Query")
        for queue in self.queues:
            function.allow(queue.queue_arn, "sqs:SendMessage")
        for table, actions in DIGEST_ACTIONS.items():
            function.allow(self._tables[TABLES[table]].table_arn, *actions)
        for index in DIGEST_INDEXES:
            function.allow(f"{self._tables[TABLES['JOBS']].table_arn}/index/{index.name}", "dynamodb:Query")
        # The next tick continues unfinished work, so a tick that Lambda couldn't start in time is dropped.
        function.function.configure_async_invoke(retry_attempts=0, max_event_age=TICK)
        self._tick(function.function.function_arn)

    def _tick(self, function_arn: str) -> None:
        """CDK's built-in target would also allow all versions of the function."""
        # Without the condition, a schedule in another account could use the role.
        own_account = {"StringEquals": {"aws:SourceAccount": cdk.Aws.ACCOUNT_ID}}
        role = iam.Role(
            self, "TickRole", assumed_by=iam.ServicePrincipal("scheduler.amazonaws.com", conditions=own_account)
        )
        role.add_to_policy(iam.PolicyStatement(actions=["lambda:InvokeFunction"], resources=[function_arn]))
        scheduler.CfnSchedule(
            self,
            "Tick",
            description="Runledger: sends messages that are due, digests and reminders",
            schedule_expression=f"rate({TICK.to_minutes():.0f} minutes)",
            flexible_time_window=scheduler.CfnSchedule.FlexibleTimeWindowProperty(mode="OFF"),
            target=scheduler.CfnSchedule.TargetProperty(
                arn=function_arn,
                role_arn=role.role_arn,
                retry_policy=scheduler.CfnSchedule.RetryPolicyProperty(maximum_retry_attempts=0),
            ),
        )

    def _function(
        self, name: str, *, timeout: cdk.Duration, environment: Mapping[str, str], sends_to_itself: bool = False
    ) -> LedgerFunction:
        return LedgerFunction(
            self,
            name,
            settings=self._settings,
            layers=[self._layer],
            timeout=timeout,
            environment={**self._environment(), **environment},
            sends_to_itself=sends_to_itself,
        )

    def _environment(self) -> dict[str, str]:
        fast, slow = self.queues
        return {
            **table_environment(self._settings, self._tables, {"NOTIFICATIONS"}),
            "NOTIFICATIONS_QUEUE": fast.queue_url,
            "NOTIFICATIONS_SLOW_QUEUE": slow.queue_url,
        }

    def _channels(self, *, topics: Mapping[str, str], buses: Mapping[str, str]) -> dict[str, str]:
        settings = self._settings
        return {
            "NOTIFICATION_SNS_TOPICS": json.dumps(dict(topics), separators=(",", ":")),
            "NOTIFICATION_EVENT_BUSES": json.dumps(dict(buses), separators=(",", ":")),
            "NOTIFICATION_SLACK_HOSTS": ",".join(settings.notification_slack_hosts),
            "NOTIFICATION_ALLOW_LOOPBACK": str(settings.notification_allow_loopback).lower(),
            "RUNNER_REQUESTS_AT_MOST": str(settings.runner_requests_at_most),
            "STUCK_QUEUED_MINUTES": str(settings.stuck_queued_minutes),
        }

    def _limit(self) -> dict[str, str]:
        return {"NOTIFICATIONS_PER_HOUR": str(self._settings.notifications_per_hour)}

    @property
    def _secret_prefix(self) -> str:
        return f"{self._settings.prefix}/notifications/"

    def _allow_secrets(self, function: LedgerFunction, *actions: str) -> None:
        """Only the secrets of this deployment's subscriptions."""
        stack = cdk.Stack.of(function)
        name = f"{self._secret_prefix}*"
        arn = stack.format_arn(
            service="secretsmanager",
            resource="secret",
            resource_name=name,
            arn_format=cdk.ArnFormat.COLON_RESOURCE_NAME,
        )
        function.allow(arn, *actions)
        readable = f"arn:<AWS::Partition>:secretsmanager:<AWS::Region>:<AWS::AccountId>:secret:{name}"
        compliance.accept(
            function.role,
            f"AwsSolutions-IAM5[Resource::{readable}]",
            "The names of secrets contain the ids of subscriptions, which operators create.",
        )
