"""Alarms that tell the operator before the users do; what to do about each is in docs/operating.md.

Each looks at one metric and at no expression over several: CloudWatch asks ten cents for every metric either way, and
an alarm of its own says which queue or table it is. (A metric with a label would be an expression to CDK.)
"""

import math

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_sns as sns
from constructs import Construct

from stacks.own_metrics import own
from stacks.settings import Settings
from stacks.watched import Watched

# Two tries of a message have failed by then, and three more come before it is a dead letter.
OLDEST_MESSAGE = cdk.Duration.minutes(15)
ORPHAN_RATE_PERCENT = 0.1
RECONCILIATION_ERRORS_AN_HOUR = 5
# Lambda tries an event twice again within minutes; then it is lost.
TRIES_OF_AN_EVENT = 3
MINUTES_PER_HOUR = 60
# CloudWatch looks back a day at most, or a week in periods of an hour.
LONGEST_IN_SHORT_PERIODS = 24 * MINUTES_PER_HOUR


class Alarms(Construct):
    def __init__(
        self, scope: Construct, construct_id: str, *, settings: Settings, watched: Watched, topic: sns.ITopic
    ) -> None:
        super().__init__(scope, construct_id)
        self.all: list[cloudwatch.Alarm] = []
        self._prefix = f"runledger-{settings.stage}"
        self._topic = topic
        self._intake(watched)
        if settings.no_webhook_alarm_minutes:
            self._silence(watched, settings.no_webhook_alarm_minutes)
        self._queues(watched)
        self._functions(watched)
        self._reconciler()
        self._throttling(watched)

    def _intake(self, watched: Watched) -> None:
        self._alarm(
            "ServerErrors",
            watched.api.metric_server_error(),
            "The API answered 5xx. A delivery that got it is neither recorded nor queued, and GitHub sends it again "
            "only when asked.",
        )
        self._alarm(
            "InvalidWebhookSecrets",
            own("InvalidWebhookSecrets", "Sum"),
            "An entry of the webhook secrets is malformed and not active: deliveries signed with it get 401.",
        )
        self._alarm(
            "DeliveriesOutOfScope",
            own("DeliveriesOutOfScope", "Sum"),
            "A delivery was signed with a secret that is not valid for its installation or repository.",
        )

    def _silence(self, watched: Watched, minutes: int) -> None:
        """Lambda writes no zero: a function that is not called has no data, and missing data is what alarms."""
        period = 5 if minutes <= LONGEST_IN_SHORT_PERIODS else MINUTES_PER_HOUR
        self._alarm(
            "NoWebhook",
            watched.functions["webhook_intake"].metric_invocations(period=cdk.Duration.minutes(period)),
            f"GitHub has sent nothing for {minutes} minutes: is the webhook still there, and is it active?",
            comparison=cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD,
            threshold=1,
            periods=math.ceil(minutes / period),
            missing=cloudwatch.TreatMissingData.BREACHING,
        )

    def _queues(self, watched: Watched) -> None:
        for name, queue in watched.queues.items():
            self._alarm(
                f"QueueAge-{name}",
                queue.metric_approximate_age_of_oldest_message(),
                f"A message has waited in {name} for over {OLDEST_MESSAGE.to_human_string()}: its tries fail, or "
                "nobody works the queue off.",
                threshold=OLDEST_MESSAGE.to_seconds(),
            )
        for name, queue in watched.dead_letters.items():
            self._alarm(
                f"DeadLetters-{name}",
                queue.metric_approximate_number_of_messages_visible(),
                f"{name} has dead letters: every try failed. They are kept for 14 days; find out why, then redrive.",
            )

    def _functions(self, watched: Watched) -> None:
        for name, function in watched.without_queue.items():
            self._alarm(
                f"FunctionErrors-{name}",
                function.metric_errors(period=cdk.Duration.minutes(15)),
                f"{name} crashed or ran out of time {TRIES_OF_AN_EVENT} times in 15 minutes. No queue keeps its work.",
                threshold=TRIES_OF_AN_EVENT,
                comparison=cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
            )

    def _reconciler(self) -> None:
        self._alarm(
            "ReconciliationErrors",
            own("ReconciliationErrors", "Sum", minutes=MINUTES_PER_HOUR),
            f"The reconciler gave up on more than {RECONCILIATION_ERRORS_AN_HOUR} items within an hour.",
            threshold=RECONCILIATION_ERRORS_AN_HOUR,
        )
        self._alarm(
            "OrphanRate",
            own("OrphanedRunnerRate", "Average", minutes=MINUTES_PER_HOUR),
            f"Over an hour, more than {ORPHAN_RATE_PERCENT} % of the runners were alive without a job.",
            threshold=ORPHAN_RATE_PERCENT,
        )
        self._alarm(
            "OrphansOverdue",
            own("OrphanedRunnersOverdue", "Maximum"),
            "An orphaned runner was found and is still not cleaned up after ten minutes: it costs money.",
        )

    def _throttling(self, watched: Watched) -> None:
        """A short peak is what retries are for."""
        for (table, operation), metric in watched.throttled_requests().items():
            self._alarm(
                f"Throttled-{table}-{operation}",
                metric,
                f"DynamoDB keeps refusing {operation} on {table} for its rate; recording is late.",
                periods=3,
                at_least=2,
            )

    def _alarm(
        self,
        name: str,
        metric: cloudwatch.IMetric,
        meaning: str,
        *,
        threshold: float = 0,
        comparison: cloudwatch.ComparisonOperator = cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD,
        periods: int = 1,
        at_least: int | None = None,
        missing: cloudwatch.TreatMissingData = cloudwatch.TreatMissingData.NOT_BREACHING,
    ) -> None:
        """No message when it is over: every alarm of a first deployment would send one."""
        alarm = cloudwatch.Alarm(
            self,
            name,
            alarm_name=f"{self._prefix}-{name}",
            alarm_description=f"{meaning} See docs/operating.md, Alarms.",
            metric=metric,
            threshold=threshold,
            comparison_operator=comparison,
            evaluation_periods=periods,
            datapoints_to_alarm=at_least,
            treat_missing_data=missing,
        )
        alarm.add_alarm_action(actions.SnsAction(self._topic))
        self.all.append(alarm)
