"""The reconciler: a function, its two schedules, and the right to stop what has a runner's tags, and nothing else."""

import re
from collections.abc import Mapping, Sequence

import aws_cdk as cdk
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from constructs import Construct
from runledger.model.ownership import KEEP_TAG
from runledger.model.passes import LONGEST_PASS_SECONDS
from runledger.tables import schema

from stacks.constructs import compliance
from stacks.constructs.function import LedgerFunction
from stacks.constructs.parts import dead_letters
from stacks.constructs.recorder import TABLES, Recorder
from stacks.settings import Settings

PASSES = {"quick": cdk.Duration.minutes(5), "full": cdk.Duration.minutes(30)}
READS = ("dynamodb:Query", "dynamodb:BatchGetItem")
RECONCILES = {
    "JOBS": READS,
    "RUNS": ("dynamodb:GetItem", "dynamodb:BatchGetItem"),
    "RUNNERS": (*READS, "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:DeleteItem"),
}
INDEXES = {"JOBS": schema.BY_STATUS, "RUNS": schema.BY_STATE, "RUNNERS": schema.RUNNERS_BY_STATUS}
DESCRIBES = ("ec2:DescribeInstances", "ecs:DescribeTasks", "ecs:ListTasks")
STOPS = ("ec2:TerminateInstances", "ecs:StopTask")


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
    ) -> None:
        super().__init__(scope, "Reconciliation")
        ledger_function = recorder.function(
            scope,
            "reconciler",
            layers=layers,
            timeout=cdk.Duration.seconds(LONGEST_PASS_SECONDS),
            more=RECONCILES,
            environment={
                **thresholds(settings),
                "GITHUB_APP": github_app,
                "GITHUB_API_URL": settings.github_api_url,
                "EVENT_BUS": bus.event_bus_name,
                **describes_runners(settings),
                "ORPHANS": settings.orphans,
                "KEEP_TAGS": _text(settings.keep_tags),
                "ORPHAN_GRACE_MINUTES": str(settings.orphan_grace_minutes),
                "REDELIVERIES_AT_MOST": str(settings.redeliveries_at_most),
                "GITHUB_BUDGET_FOR_OTHERS_PERCENT": str(settings.github_budget_for_others_percent),
            },
        )
        for word, index in INDEXES.items():
            table = recorder.tables[TABLES[word]].table_arn
            ledger_function.allow(f"{table}/index/{index.name}", "dynamodb:Query")
        ledger_function.allow(github_app, "secretsmanager:GetSecretValue")
        ledger_function.allow(bus.event_bus_arn, "events:PutEvents")
        self.function: lambda_.Function = ledger_function.function
        # The next pass does what this one did not: Lambda must neither repeat a failed pass nor start one that is late.
        self.function.configure_async_invoke(retry_attempts=0, max_event_age=PASSES["quick"])
        _allow_looking(ledger_function)
        if settings.runner_tags:
            _allow_stopping(ledger_function, settings)
        self._schedule(ledger_function, settings)

    def _schedule(self, reconciler: LedgerFunction, settings: Settings) -> None:
        reason = "It is itself the dead-letter queue of the schedules' target."
        missed = dead_letters(self, "ScheduleDeadLetters", settings=settings, reason=reason)
        for kind, every in PASSES.items():
            target = targets.LambdaFunction(
                reconciler.function,
                event=events.RuleTargetInput.from_object({"pass": kind}),
                dead_letter_queue=missed,
                retry_attempts=0,  # the next pass does what this one did not
            )
            events.Rule(self, f"{kind.capitalize()}Pass", schedule=events.Schedule.rate(every), targets=[target])


def thresholds(settings: Settings) -> dict[str, str]:
    """When a job is stuck, for the reconciler and the API."""
    return {
        "STUCK_QUEUED_MINUTES": str(settings.stuck_queued_minutes),
        "STUCK_SCHEDULED_MINUTES": str(settings.stuck_scheduled_minutes),
        "LONG_RUNNING_HOURS": str(settings.long_running_hours),
        "FORGOTTEN_APPROVAL_HOURS": str(settings.forgotten_approval_hours),
        "RUNNER_REQUESTS_AT_MOST": str(settings.runner_requests_at_most),
    }


def scope(settings: Settings) -> dict[str, str]:
    """The account and the regions in which EC2 and ECS show whether a machine is gone."""
    return {"OWN_ACCOUNT": cdk.Aws.ACCOUNT_ID, "RUNNER_REGIONS": ",".join(settings.runner_regions)}


def describes_runners(settings: Settings) -> dict[str, str]:
    """Which machines are runners, where they are looked for, and how they are described."""
    return {
        **scope(settings),
        "POOL_TAGS": settings.pool_tags,
        "ECS_CLUSTER": settings.ecs_cluster,
        "RUNNER_TAGS": _text(settings.runner_tags),
    }


def _text(tags: Mapping[str, str]) -> str:
    return ",".join(f"{name}={value}" for name, value in tags.items())


def _allow_looking(reconciler: LedgerFunction) -> None:
    reconciler.allow("*", *DESCRIBES)
    compliance.accept(
        reconciler.role,
        "AwsSolutions-IAM5[Resource::*]",
        "Descriptions are granted for all resources or none; what may be stopped is fenced by its tags.",
    )


def _allow_stopping(reconciler: LedgerFunction, settings: Settings) -> None:
    """AWS refuses to stop a machine that lacks one of the tags, has one that keeps it, or is in another region.

    The code checks the same.
    """
    machines = [
        cdk.Stack.of(reconciler).format_arn(service=service, region=region, resource=kind, resource_name="*")
        for region in dict.fromkeys((cdk.Aws.REGION, *settings.runner_regions))
        for service, kind in (("ec2", "instance"), ("ecs", "task"))
    ]
    reconciler.function.add_to_role_policy(
        iam.PolicyStatement(
            actions=list(STOPS),
            resources=machines,
            conditions={
                "StringLike": {f"aws:ResourceTag/{name}": value for name, value in settings.runner_tags.items()},
                "StringNotLike": {f"aws:ResourceTag/{name}": value for name, value in settings.keep_tags.items()},
                # As `must_stay` has it: every value but `false` keeps the machine.
                "StringEqualsIgnoreCaseIfExists": {f"aws:ResourceTag/{KEEP_TAG}": "false"},
            },
        )
    )
    for arn in machines:
        readable = re.sub(r"\$\{Token\[(AWS\.\w+)\.\d+\]\}", lambda token: f"<{token[1].replace('.', '::')}>", arn)
        compliance.accept(
            reconciler.role, f"AwsSolutions-IAM5[Resource::{readable}]", "Only machines with the tags of runners."
        )
