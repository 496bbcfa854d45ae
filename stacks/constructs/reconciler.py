"""The reconciler: a function, its two schedules, and the permission to terminate machines with runner tags."""

import json
import re
from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from constructs import Construct
from runledger.model import times
from runledger.model.ownership import KEEP_TAG
from runledger.model.passes import INTERVAL_SECONDS, LONGEST_PASS_SECONDS, LONGEST_WAIT_SECONDS
from runledger.tables import schema

from stacks.constructs import compliance, environment
from stacks.constructs.environment import runner_machines, stuck_thresholds, tag_list
from stacks.constructs.feed import Feed
from stacks.constructs.function import LedgerFunction
from stacks.constructs.queues import dead_letters
from stacks.constructs.recorder import Recorder
from stacks.constructs.tables import TABLES
from stacks.settings import Settings

READ_ACTIONS = ("dynamodb:Query", "dynamodb:BatchGetItem")
RECONCILER_ACTIONS = {
    "JOBS": READ_ACTIONS,
    "JOB_EVENTS": ("dynamodb:Query",),  # for leftover events of an interrupted cleanup
    "RUNS": ("dynamodb:GetItem", "dynamodb:BatchGetItem"),
    "RUNNERS": (*READ_ACTIONS, "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:DeleteItem"),
}
INDEXES = {"JOBS": schema.BY_STATUS, "RUNS": schema.BY_STATE, "RUNNERS": schema.RUNNERS_BY_STATUS}
DESCRIBE_ACTIONS = ("ec2:DescribeInstances", "ecs:DescribeTasks", "ecs:ListTasks")
STOP_ACTIONS = ("ec2:TerminateInstances", "ecs:StopTask")


class ReconcilerFunction(Construct):
    def __init__(
        self,
        scope: Construct,
        *,
        settings: Settings,
        recorder: Recorder,
        layers: Sequence[lambda_.ILayerVersion],
        bus: events.IEventBus,
        github_app: str,
        feed: Feed | None,
    ) -> None:
        super().__init__(scope, "Reconciliation")
        ledger_function = recorder.function(
            scope,
            "reconciler",
            layers=layers,
            timeout=cdk.Duration.seconds(LONGEST_PASS_SECONDS),
            more=RECONCILER_ACTIONS,
            environment={
                **stuck_thresholds(settings),
                **environment.github_app(settings, github_app),
                "EVENT_BUS": bus.event_bus_name,
                **runner_machines(settings),
                "ORPHANS": settings.orphans,
                "KEEP_TAGS": tag_list(settings.keep_tags),
                "ORPHAN_GRACE_MINUTES": str(settings.orphan_grace_minutes),
                "RUNNER_REGISTRATION_MINUTES": str(settings.runner_registration_minutes),
                "REDELIVERIES_AT_MOST": str(settings.redeliveries_at_most),
                "GITHUB_BUDGET_FOR_OTHERS_PERCENT": str(settings.github_budget_for_others_percent),
                **(feed.environment() if feed else {}),
            },
        )
        if feed:
            feed.allow_sending(ledger_function)
        for name, index in INDEXES.items():
            table = recorder.tables[TABLES[name]].table_arn
            ledger_function.allow(f"{table}/index/{index.name}", "dynamodb:Query")
        ledger_function.allow(github_app, "secretsmanager:GetSecretValue")
        ledger_function.allow(bus.event_bus_arn, "events:PutEvents")
        self.function: lambda_.Function = ledger_function.function
        # The next pass continues the work, so Lambda must neither retry a failed pass nor start a late one.
        self.function.configure_async_invoke(retry_attempts=0, max_event_age=cdk.Duration.seconds(LONGEST_WAIT_SECONDS))
        _allow_describing(ledger_function)
        if settings.runner_tags:
            _allow_terminating(ledger_function, settings)
        self._schedule(ledger_function, settings)

    def _schedule(self, reconciler: LedgerFunction, settings: Settings) -> None:
        reason = "It is itself the dead-letter queue of the schedules' target."
        missed = dead_letters(self, "ScheduleDeadLetters", settings=settings, reason=reason)
        for kind, seconds in INTERVAL_SECONDS.items():
            every = events.Schedule.rate(cdk.Duration.minutes(seconds // times.SECONDS_PER_MINUTE))
            target = targets.LambdaFunction(
                reconciler.function,
                event=events.RuleTargetInput.from_object({"pass": kind.value}),
                dead_letter_queue=missed,
                retry_attempts=0,  # the next pass continues
            )
            events.Rule(self, f"{kind.capitalize()}Pass", schedule=every, targets=[target])


def output_orphan_policy(stack: cdk.Stack, settings: Settings) -> None:
    """Published in each region of the deployment: `make preflight` compares it with the policies of other deployments.

    Two deployments must not both stop the same machines.
    """
    policy = {
        "orphans": settings.orphans,
        "runner_tags": dict(settings.runner_tags),
        "runner_regions": list(settings.runner_regions),
    }
    cdk.CfnOutput(stack, "OrphanPolicy", value=json.dumps(policy, sort_keys=True))


def _allow_describing(reconciler: LedgerFunction) -> None:
    reconciler.allow("*", *DESCRIBE_ACTIONS)
    compliance.accept(
        reconciler.role,
        "AwsSolutions-IAM5[Resource::*]",
        "These actions don't support resource-level permissions; terminating machines is limited by tags.",
    )


def _allow_terminating(reconciler: LedgerFunction, settings: Settings) -> None:
    """AWS refuses to terminate a machine without all runner tags, with a tag that protects it, or in another region.

    It also refuses to terminate a task in another cluster. The code checks the same.
    """
    machines = [
        cdk.Stack.of(reconciler).format_arn(service=service, region=region, resource=kind, resource_name=name)
        for region in dict.fromkeys((cdk.Aws.REGION, *settings.runner_regions))
        for service, kind, name in (
            ("ec2", "instance", "*"),
            *(("ecs", "task", f"{cluster}/*") for cluster in settings.ecs_clusters),
        )
    ]
    reconciler.function.add_to_role_policy(
        iam.PolicyStatement(
            actions=list(STOP_ACTIONS),
            resources=machines,
            conditions={
                "StringLike": {f"aws:ResourceTag/{name}": value for name, value in settings.runner_tags.items()},
                "StringNotLike": {f"aws:ResourceTag/{name}": value for name, value in settings.keep_tags.items()},
                # The same rule as in `must_stay`: every value except `false` protects the machine.
                "StringEqualsIgnoreCaseIfExists": {f"aws:ResourceTag/{KEEP_TAG}": "false"},
            },
        )
    )
    for arn in machines:
        readable = re.sub(r"\$\{Token\[(AWS\.\w+)\.\d+\]\}", lambda token: f"<{token[1].replace('.', '::')}>", arn)
        compliance.accept(
            reconciler.role, f"AwsSolutions-IAM5[Resource::{readable}]", "Only machines with the tags of runners."
        )
