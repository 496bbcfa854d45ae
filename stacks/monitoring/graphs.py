"""One CloudWatch dashboard, in the order of a delivery: intake, functions, queues, jobs, runners, reconciler, tables.

Its body names each function, queue and table of the other stacks many times. Each of them is a variable of `Fn::Sub`,
so that there is only one reference to each resource.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_dynamodb as dynamodb
from constructs import Construct
from runledger.model.stuck import OPEN

from stacks.constructs.tree import resource_of
from stacks.monitoring.optional_graphs import feed, notifications, storage
from stacks.monitoring.own_metrics import OwnMetrics
from stacks.monitoring.rows import FULL_WIDTH, Row, aws_metric, row
from stacks.monitoring.saved_queries import OVER_FUNCTIONS, text_of
from stacks.monitoring.watched import Watched, recording_operations, throttled
from stacks.names import log_group_name
from stacks.settings import Settings

PERCENTILES = ("p50", "p90", "p99")


@dataclass(frozen=True, slots=True)
class Names:
    """Variables for names that are known only after the other stacks are deployed, and the references that set them."""

    references: dict[str, str] = field(default_factory=dict)

    def variables(self, suffix: str, physical: Mapping[str, str]) -> dict[str, str]:
        """The variable that a graph uses for each name."""
        named = {each: "".join(filter(str.isalnum, each.title())) + suffix for each in physical}
        self.references.update({named[each]: reference for each, reference in physical.items()})
        return {each: f"${{{variable}}}" for each, variable in named.items()}


def dashboard(
    scope: Construct,
    *,
    settings: Settings,
    watched: Watched,
    tables: Mapping[str, dynamodb.Table],
    alarms: Sequence[cloudwatch.IAlarm],
) -> cloudwatch.Dashboard:
    log_groups = [log_group_name(settings.stage, function) for function in watched.functions]
    names, own = Names(), OwnMetrics(stage=settings.stage)
    functions = names.variables("Function", {name: each.function_name for name, each in watched.functions.items()})
    queues = names.variables("Queue", {name: each.queue_name for name, each in watched.queues.items()})
    dead_letters = names.variables(
        "DeadLetters", {name: each.queue_name for name, each in watched.dead_letters.items()}
    )
    (api,) = names.variables("", {"api": watched.apis[0].api_id}).values()
    shown = names.variables("Table", {name: each.table_name for name, each in tables.items()})
    made = cloudwatch.Dashboard(
        scope,
        "Dashboard",
        # All regions of an account share one set of dashboard names.
        dashboard_name=f"{settings.prefix}-{cdk.Aws.REGION}",
        default_interval=cdk.Duration.hours(12),
        widgets=[
            [cloudwatch.AlarmStatusWidget(title="Alarms", alarms=list(alarms), width=FULL_WIDTH, height=5)],
            _intake(own, api, functions["webhook_intake"]),
            _functions(functions),
            _queues(own, queues, dead_letters, watched.with_event_source),
            _jobs(own),
            _runners(own),
            _orphans(own),
            _passes(own),
            [_orphans_by_repository(log_groups)],
            *([storage(own)] if settings.webhook_bucket else []),
            *([feed(own, functions["feed_stream"])] if settings.feeds else []),
            *([notifications(own)] if settings.notifications else []),
            _tables(shown),
        ],
    )
    deployed = resource_of(made, cloudwatch.CfnDashboard)
    body = _as_template(cdk.Stack.of(made).resolve(deployed.dashboard_body))
    deployed.dashboard_body = cdk.Fn.sub(body, names.references)
    return made


def _as_template(body: Any) -> str:
    """Replaces the joined references with `${}` variables."""
    parts = body["Fn::Join"][1]
    return "".join(part if isinstance(part, str) else f"${{{part['Ref']}}}" for part in parts)


def _intake(own: OwnMetrics, api: str, intake: str) -> Row:
    return row(
        (
            "Requests",
            [
                aws_metric("ApiGateway", "Count", "Sum", label="all", ApiId=api),
                aws_metric("ApiGateway", "4xx", "Sum", label="4xx", ApiId=api),
                aws_metric("ApiGateway", "5xx", "Sum", label="5xx", ApiId=api),
            ],
        ),
        (
            "Request latency (ms)",
            [aws_metric("ApiGateway", "Latency", at, label=at, ApiId=api) for at in PERCENTILES],
        ),
        (
            "Intake duration (ms)",
            [aws_metric("Lambda", "Duration", at, label=at, FunctionName=intake) for at in PERCENTILES],
        ),
        (
            "Deliveries",
            own.sums(
                *("DuplicateDeliveries", "DeferredDeliveries", "WebhooksRedelivered", "RejectedEvents"),
                *("DeliveriesOutOfScope", "DeliveriesFromOtherHosts", "InvalidWebhookSecrets"),
            ),
        ),
    )


def _functions(functions: Mapping[str, str]) -> Row:
    def each(metric: str, statistic: str) -> list[cloudwatch.Metric]:
        return [
            aws_metric("Lambda", metric, statistic, label=name, FunctionName=variable)
            for name, variable in functions.items()
        ]

    return row(
        ("Function errors", each("Errors", "Sum")),
        ("Throttled invocations", each("Throttles", "Sum")),
        ("Function duration, p90 (ms)", each("Duration", "p90")),
    )


def _queues(own: OwnMetrics, queues: Mapping[str, str], dead_letters: Mapping[str, str], fed: Collection[str]) -> Row:
    def each(metric: str, shown: Mapping[str, str]) -> list[cloudwatch.Metric]:
        return [
            aws_metric("SQS", metric, "Maximum", label=name, QueueName=variable) for name, variable in shown.items()
        ]

    failed = [own.metric("MessagesFailed", "Sum", function=name).with_(label=name) for name in sorted(fed)]
    return row(
        ("Messages waiting", each("ApproximateNumberOfMessagesVisible", queues)),
        ("Oldest message (s)", each("ApproximateAgeOfOldestMessage", queues)),
        ("Failed messages", failed),
        ("Dead letters", each("ApproximateNumberOfMessagesVisible", dead_letters)),
    )


def _jobs(own: OwnMetrics) -> Row:
    return row(
        ("Jobs", own.sums("JobsQueued", "JobsWaiting", "JobsStarted", "JobsCompleted", "JobsFailed")),
        (
            "Queue time (ms)",
            [
                own.metric(name, at).with_(label=f"{label} {at}")
                for name, label in (("QueueTime", "until start"), ("InternalQueueTime", "until runner launch"))
                for at in ("p50", "p90")
            ],
        ),
        ("Job duration (s)", [own.metric("JobDuration", at).with_(label=at) for at in ("p50", "p90")]),
        ("Job cost per hour ($)", own.sums("Spend", "SpotSavings", minutes=60)),
    )


def _runners(own: OwnMetrics) -> Row:
    return row(
        ("Runners", own.sums("RunnersScheduled", "RunnersRescheduled", "RunnersAttached", "RunnersTerminated")),
        (
            "Runner problems",
            own.sums(
                *("RunnersInterrupted", "RebalanceRecommendations", "RunnersTaken", "RunnersRequested"),
                "LookupsPostponed",
            ),
        ),
        ("Re-runs", own.sums("RerunsRequested", "RerunsRefused")),
        (
            "Approvals",
            [
                *own.sums("ApprovalsRequested", "ApprovalsGiven", "ApprovalsRefused"),
                own.metric("ForgottenApprovals", "Maximum", minutes=60),
            ],
        ),
    )


def _orphans(own: OwnMetrics) -> Row:
    return row(
        (
            "Orphaned runners",
            [
                *own.sums("OrphanedRunnersDetected", "OrphanedRunnersCleaned"),
                own.metric("OrphanedRunnersOverdue", "Maximum"),
                own.metric("ContestedRunners", "Maximum"),
            ],
        ),
        ("Orphan rate (%)", [own.metric("OrphanedRunnerRate", "Average", minutes=60)]),
        (
            "Cleanup latency (s)",
            [own.metric("CleanupLatency", at, minutes=60).with_(label=at) for at in ("p50", "Maximum")],
        ),
        ("Stuck jobs", [own.metric("StuckJobs", "Maximum", kind=kind.value).with_(label=kind.value) for kind in OPEN]),
    )


def _orphans_by_repository(log_groups: Sequence[str]) -> cloudwatch.IWidget:
    """From the logs: with the repository as a dimension, each repository would be billed as a metric."""
    return cloudwatch.LogQueryWidget(
        title="Orphans by repository",
        log_group_names=list(log_groups),
        query_string=text_of(OVER_FUNCTIONS["orphans by repository"]),
        view=cloudwatch.LogQueryVisualizationType.TABLE,
        width=FULL_WIDTH,
    )


def _passes(own: OwnMetrics) -> Row:
    outcomes = ("PassesSucceeded", "PassesFailed")
    succeeded = cloudwatch.MathExpression(
        expression="100 * succeeded / (succeeded + failed)",
        using_metrics=dict(zip(("succeeded", "failed"), own.sums(*outcomes, minutes=60), strict=True)),
        period=cdk.Duration.hours(1),
        label="succeeded (%)",
    )
    return row(
        (
            "Healed and long-running jobs",
            [*own.sums("JobsHealed", "JobsReconciled"), own.metric("LongRunningJobs", "Maximum")],
        ),
        (
            "Pass duration (ms)",
            [own.metric("ReconciliationDuration", at).with_(label=at) for at in ("Average", "Maximum")],
        ),
        ("Passes and success rate (%)", own.sums(*outcomes, minutes=60), [succeeded]),
        ("Reconciler errors", own.sums("ReconciliationErrors")),
    )


def _tables(tables: Mapping[str, str]) -> Row:
    def consumed(metric: str) -> list[cloudwatch.Metric]:
        return [
            aws_metric("DynamoDB", metric, "Sum", label=name, TableName=variable) for name, variable in tables.items()
        ]

    return row(
        ("Consumed write units", consumed("ConsumedWriteCapacityUnits")),
        ("Consumed read units", consumed("ConsumedReadCapacityUnits")),
        (
            "Throttled requests",
            [
                throttled(tables[table], operation).with_(label=f"{table} {operation}")
                for table, operation in recording_operations(tables)
            ],
        ),
    )
