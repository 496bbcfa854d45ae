"""The event bus, the functions for launcher events, AWS events and queued tasks, and the reconciler."""

from collections.abc import Mapping, Sequence
from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_sqs as sqs
from constructs import Construct
from runledger.model.inputs import EventType
from runledger.model.instance import ENDING, SPOT_INTERRUPTION, AwsEvent
from runledger.runners import publishers

from stacks.constructs import compliance
from stacks.constructs.environment import github_app, machine_scope, runner_machines
from stacks.constructs.feed import Feed
from stacks.constructs.function import LedgerFunction
from stacks.constructs.github_requests import GitHubRequestsFunction
from stacks.constructs.layer import domain_layer, github_layer
from stacks.constructs.notifications import Notifications
from stacks.constructs.queues import FUNCTION_TIMEOUT, dead_letters, queue_with_dead_letters
from stacks.constructs.reconciler import ReconcilerFunction, output_orphan_policy
from stacks.constructs.recorder import TRACKING_ACTIONS, Recorder
from stacks.constructs.releases import Releases
from stacks.constructs.retained import secret
from stacks.constructs.storage import allow_configs, config_environment
from stacks.monitoring.resource_alarms import watch
from stacks.settings import Settings

FROM_LAUNCHERS = (
    EventType.RUNNER_SCHEDULED,
    EventType.RUNNER_RESCHEDULED,
    EventType.RUNNER_ATTACHED,
    EventType.RUNNER_TERMINATED,
)
DESCRIBE_ACTIONS = (
    "ec2:DescribeInstances",
    "ec2:DescribeSpotPriceHistory",
    "ecs:DescribeTasks",
    "pricing:GetProducts",
)
# The longest time that a call to EC2, ECS or the price list takes, with one retry: see `runledger.platform.clients`.
LOOKUP_CALL_SECONDS = 15
# The list price and the spot price.
PRICE_CALLS = 2
RECORDING_SECONDS = 15
# Every event that matches a rule costs a message, an invocation and a read, even if the machine isn't a runner.
STATES = {"running", *ENDING}


class EventsStack(cdk.Stack):
    def __init__(
        self, scope: Construct, construct_id: str, *, settings: Settings, tables: Mapping[str, dynamodb.Table]
    ) -> None:
        super().__init__(scope, construct_id, termination_protection=not settings.throw_away)
        self._settings = settings
        self._tables = tables
        self._bus = self._make_bus()
        self._undelivered = dead_letters(
            self,
            "RulesDeadLetters",
            settings=settings,
            reason="It is itself the dead-letter queue of the rules' targets.",
        )
        self.github_app = secret(
            self,
            "GitHubApp",
            settings=settings,
            description='The GitHub App that asks: {"app_id": ..., "private_key": "PEM"}, or {} for none.',
            # If this text changed, CloudFormation would write it again, and overwrite the App's key. A test fixes this
            # text and the description, so that no update touches the secret.
            secret_string_value=cdk.SecretValue.unsafe_plain_text("{}"),
        )
        self._domain, self._github = domain_layer(self, settings=settings), github_layer(self, settings=settings)
        self.recorder = Recorder(
            settings=settings,
            tables=tables,
            runner_lookups=queue_with_dead_letters(
                self, "RunnerLookups", settings=settings, function_timeout=lookup_timeout(settings)
            ),
            rerun_checks=queue_with_dead_letters(self, "RerunChecks", settings=settings),
        )
        self._scheduling_events()
        self._instance_events()
        self._runner_lookup()
        self._run_retry()
        self.feed = Feed(self, settings=settings, tables=tables, layer=self._domain) if settings.feeds else None
        self.notifications = (
            Notifications(self, settings=settings, tables=tables, layer=self._domain)
            if settings.notifications
            else None
        )
        self.releases = (
            Releases(
                self,
                settings=settings,
                tables=tables,
                layers=[self._domain, self._github],
                github_app=self.github_app,
            )
            if settings.releases
            else None
        )
        self.reconciler = ReconcilerFunction(
            self,
            settings=settings,
            recorder=self.recorder,
            layers=[self._domain, self._github],
            bus=self._bus,
            github_app=self.github_app,
            feed=self.feed,
        ).function
        self.github_requests = GitHubRequestsFunction(
            self,
            settings=settings,
            tables=tables,
            layers=[self._domain, self._github],
            github_app=self.github_app,
        ).function
        cdk.CfnOutput(self, "EventBusName", value=self._bus.event_bus_name)
        cdk.CfnOutput(self, "GitHubAppSecretArn", value=self.github_app)
        output_orphan_policy(self, settings)
        watch(self, settings=settings)

    def _make_bus(self) -> events.EventBus:
        bus = events.EventBus(self, "Bus", event_bus_name=self._settings.prefix)
        for account in sorted({each.account for each in self._settings.event_publishers}):
            policy = events.CfnEventBusPolicy(
                self,
                f"PublisherAccount{account}",
                event_bus_name=bus.event_bus_name,
                statement_id=f"publisher-{account}",
                action="events:PutEvents",
                principal=account,
            )
            # The deployment's own account, which is known only at deployment, needs no policy.
            policy.cfn_options.condition = cdk.CfnCondition(
                self,
                f"PublisherAccount{account}IsAnother",
                expression=cdk.Fn.condition_not(cdk.Fn.condition_equals(cdk.Aws.ACCOUNT_ID, account)),
            )
        return bus

    def _scheduling_events(self) -> None:
        timeout = lookup_timeout(self._settings)
        queue = queue_with_dead_letters(self, "SchedulingEvents", settings=self._settings, function_timeout=timeout)
        launchers = events.EventPattern(detail_type=list(FROM_LAUNCHERS))
        self._route(queue, "FromLaunchers", launchers, bus=self._bus)
        function = self.recorder.function(
            self,
            "scheduling_events",
            layers=[self._domain],
            timeout=timeout,
            more=TRACKING_ACTIONS,
            environment={
                **runner_machines(self._settings),
                "EVENT_PUBLISHERS": publishers.to_json(self._settings.event_publishers),
            },
        )
        _allow_everywhere(function, *DESCRIBE_ACTIONS)
        function.consume(queue, batch_size=1)

    def _instance_events(self) -> None:
        for name, queue_name, patterns in (
            ("spot_interruption", "SpotInterruptions", {"SpotInterruptions": warnings()}),
            ("instance_state", "InstanceStates", {"InstanceStates": states(), "TaskStates": tasks(self._settings)}),
        ):
            queue = queue_with_dead_letters(self, queue_name, settings=self._settings)
            for rule, pattern in patterns.items():
                self._route(queue, f"From{rule}", pattern)
                if self._settings.runner_regions:
                    # Other regions forward to this bus. On the default bus, their events would match others' rules.
                    # EventBridge allows no publisher to use a source that begins with `aws.`.
                    self._route(queue, f"Forwarded{rule}", pattern, bus=self._bus)
            function = self.recorder.function(
                self,
                name,
                layers=[self._domain],
                timeout=FUNCTION_TIMEOUT,
                more=TRACKING_ACTIONS,
                environment=machine_scope(self._settings),
            )
            function.consume(queue)

    def _runner_lookup(self) -> None:
        function = self.recorder.function(
            self,
            "runner_lookup",
            layers=[self._domain],
            timeout=lookup_timeout(self._settings),
            more=TRACKING_ACTIONS,
            environment={**runner_machines(self._settings), **config_environment(self._settings)},
        )
        _allow_everywhere(function, *DESCRIBE_ACTIONS)
        allow_configs(function, self._settings)
        function.consume(self.recorder.runner_lookups, batch_size=1)

    def _run_retry(self) -> None:
        function = self.recorder.function(
            self,
            "run_retry",
            layers=[self._domain, self._github],
            timeout=FUNCTION_TIMEOUT,
            more={"RUNS": ("dynamodb:GetItem",), "DEPLOYMENTS": ("dynamodb:Query",)},
            environment={
                **github_app(self._settings, self.github_app),
                "RERUNS_AT_MOST": str(self._settings.reruns_at_most),
            },
        )
        function.allow(self.github_app, "secretsmanager:GetSecretValue")
        function.consume(self.recorder.rerun_checks, batch_size=1)

    def _route(
        self, queue: sqs.Queue, name: str, pattern: events.EventPattern, *, bus: events.IEventBus | None = None
    ) -> None:
        """Without `bus`, the rule is on the default bus, to which AWS publishes its events."""
        target = targets.SqsQueue(queue, dead_letter_queue=self._undelivered)
        events.Rule(self, name, event_bus=bus, event_pattern=pattern, targets=[target])


def lookup_timeout(settings: Settings) -> cdk.Duration:
    """The function searches one region after another for an instance, so the time grows with the number of regions."""
    regions = len({cdk.Aws.REGION, *settings.runner_regions})
    return cdk.Duration.seconds(LOOKUP_CALL_SECONDS * (regions + PRICE_CALLS) + RECORDING_SECONDS)


def warnings() -> events.EventPattern:
    return events.EventPattern(source=["aws.ec2"], detail_type=[AwsEvent.WARNING, AwsEvent.REBALANCE])


def states() -> events.EventPattern:
    return events.EventPattern(
        source=["aws.ec2"], detail_type=[AwsEvent.INSTANCE_STATE], detail={"state": sorted(STATES)}
    )


def tasks(settings: Settings) -> events.EventPattern:
    return events.EventPattern(
        source=["aws.ecs"], detail_type=[AwsEvent.TASK_STATE], detail=task_pattern(settings.ecs_event_clusters)
    )


def task_pattern(clusters: Sequence[str]) -> dict[str, Any]:
    """Tasks that are running, stopped or interrupted. If clusters are named, only tasks in these."""
    of_interest = [
        {"lastStatus": ["STOPPED"]},
        {"lastStatus": ["RUNNING"], "desiredStatus": ["RUNNING"]},
        {"stopCode": [SPOT_INTERRUPTION]},
    ]
    named = {"clusterArn": [{"suffix": f":cluster/{name}"} for name in clusters]} if clusters else {}
    return {**named, "$or": of_interest}


def _allow_everywhere(function: LedgerFunction, *actions: str) -> None:
    """For descriptions and prices: these actions don't support resource-level permissions."""
    function.allow("*", *actions)
    compliance.accept(
        function.role,
        "AwsSolutions-IAM5[Resource::*]",
        f"{', '.join(actions)} read descriptions and prices; these actions don't support resource-level permissions.",
    )
