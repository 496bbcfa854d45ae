"""One CloudWatch dashboard, from the front door to the bill: what comes in, what waits, what runs, what it costs."""

from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct
from runledger.model import Status

from stacks.own_metrics import own
from stacks.settings import Settings
from stacks.watched import Watched

FULL_WIDTH = 24
OPEN = [status for status in Status if status is not Status.COMPLETED]

Graph = tuple[str, Sequence[cloudwatch.IMetric]]
Row = list[cloudwatch.IWidget]


def dashboard(
    scope: Construct, *, settings: Settings, watched: Watched, alarms: Sequence[cloudwatch.IAlarm]
) -> cloudwatch.Dashboard:
    return cloudwatch.Dashboard(
        scope,
        "Dashboard",
        dashboard_name=f"runledger-{settings.stage}",
        default_interval=cdk.Duration.hours(12),
        widgets=[
            [cloudwatch.AlarmStatusWidget(title="Alarms", alarms=list(alarms), width=FULL_WIDTH, height=5)],
            _intake(watched),
            _functions(watched),
            _queues(watched),
            _jobs(),
            _runners(),
            _orphans(),
            _passes(),
            _tables(watched),
        ],
    )


def _intake(watched: Watched) -> Row:
    api, intake = watched.api, watched.functions["webhook_intake"]
    return _row(
        (
            "Requests",
            [
                api.metric_count(statistic="Sum", label="all"),
                api.metric_client_error(label="4xx"),
                api.metric_server_error(label="5xx"),
            ],
        ),
        ("Latency of requests (ms)", [api.metric_latency(statistic=at, label=at) for at in ("p50", "p90", "p99")]),
        ("Duration of intake (ms)", [intake.metric_duration(statistic=at, label=at) for at in ("p50", "p90", "p99")]),
        (
            "Deliveries",
            _sums(
                *("DuplicateDeliveries", "DeferredDeliveries", "WebhooksRedelivered", "RejectedEvents"),
                *("DeliveriesOutOfScope", "InvalidWebhookSecrets"),
            ),
        ),
    )


def _functions(watched: Watched) -> Row:
    functions = watched.functions.items()
    return _row(
        ("Errors of functions", [each.metric_errors(label=name) for name, each in functions]),
        ("Functions throttled", [each.metric_throttles(label=name) for name, each in functions]),
        (
            "Duration of functions, p90 (ms)",
            [each.metric_duration(statistic="p90", label=name) for name, each in functions],
        ),
    )


def _queues(watched: Watched) -> Row:
    queues, dead_letters = watched.queues.items(), watched.dead_letters.items()
    return _row(
        (
            "Messages waiting",
            [each.metric_approximate_number_of_messages_visible(label=name) for name, each in queues],
        ),
        ("Oldest message (s)", [each.metric_approximate_age_of_oldest_message(label=name) for name, each in queues]),
        (
            "Dead letters",
            [each.metric_approximate_number_of_messages_visible(label=name) for name, each in dead_letters],
        ),
    )


def _jobs() -> Row:
    return _row(
        ("Jobs", _sums("JobsQueued", "JobsWaiting", "JobsStarted", "JobsCompleted", "JobsFailed")),
        ("Queue time (ms)", [own("QueueTime", at).with_(label=at) for at in ("p50", "p90")]),
        ("Duration of jobs (s)", [own("JobDuration", at).with_(label=at) for at in ("p50", "p90")]),
        ("Cost of jobs by the hour ($)", _sums("Spend", "SpotSavings", minutes=60)),
    )


def _runners() -> Row:
    return _row(
        ("Runners", _sums("RunnersScheduled", "RunnersRescheduled", "RunnersAttached", "RunnersTerminated")),
        (
            "Trouble with runners",
            _sums("RunnersInterrupted", "RebalanceRecommendations", "RunnersTaken", "RunnersRequested"),
        ),
        ("Re-runs", _sums("RerunsRequested", "RerunsRefused")),
        (
            "Approvals",
            [
                *_sums("ApprovalsRequested", "ApprovalsGiven", "ApprovalsRefused"),
                own("ForgottenApprovals", "Maximum", minutes=60),
            ],
        ),
    )


def _orphans() -> Row:
    return _row(
        (
            "Orphaned runners",
            [
                *_sums("OrphanedRunnersDetected", "OrphanedRunnersCleaned"),
                own("OrphanedRunnersOverdue", "Maximum"),
                own("ContestedRunners", "Maximum"),
            ],
        ),
        ("Orphan rate (%)", [own("OrphanedRunnerRate", "Average", minutes=60)]),
        ("Stuck jobs", [own("StuckJobs", "Maximum", kind=kind.value).with_(label=kind.value) for kind in OPEN]),
    )


def _passes() -> Row:
    return _row(
        (
            "Jobs healed, and long-running",
            [*_sums("JobsHealed", "JobsReconciled"), own("LongRunningJobs", "Maximum")],
        ),
        (
            "Duration of a pass (ms)",
            [own("ReconciliationDuration", at).with_(label=at) for at in ("Average", "Maximum")],
        ),
        ("Errors of the reconciler", _sums("ReconciliationErrors")),
    )


def _tables(watched: Watched) -> Row:
    tables = watched.tables.items()
    return _row(
        ("Write units consumed", [each.metric_consumed_write_capacity_units(label=name) for name, each in tables]),
        ("Read units consumed", [each.metric_consumed_read_capacity_units(label=name) for name, each in tables]),
        (
            "Requests throttled",
            [metric.with_(label=" ".join(where)) for where, metric in watched.throttled_requests().items()],
        ),
    )


def _sums(*names: str, minutes: int = 5) -> list[cloudwatch.Metric]:
    return [own(name, "Sum", minutes=minutes) for name in names]


def _row(*graphs: Graph) -> Row:
    return [
        cloudwatch.GraphWidget(
            title=title,
            left=list(metrics),
            left_y_axis=cloudwatch.YAxisProps(min=0, show_units=False),
            width=FULL_WIDTH // len(graphs),
        )
        for title, metrics in graphs
    ]
