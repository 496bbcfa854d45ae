"""Alarms on the metrics that the functions emit: deliveries, jobs, approvals and orphans."""

from runledger.model.inputs import Status
from runledger.model.stuck import OPEN

from stacks.monitoring.alarms import MINUTES_PER_HOUR, Alarms
from stacks.settings import Settings

ORPHAN_RATE_PERCENT = 0.1
RECONCILIATION_ERRORS_AN_HOUR = 5
MS_PER_MINUTE = 60_000
# Waiting jobs have a separate alarm, on forgotten approvals.
STUCK = tuple(status.value for status in OPEN if status is not Status.WAITING)
# Each period has at least two passes.
PASSES_MINUTES = 15


def watch_ledger(alarms: Alarms, *, settings: Settings) -> None:
    _deliveries(alarms)
    _jobs(alarms, settings)
    _reconciler(alarms)


def _deliveries(alarms: Alarms) -> None:
    alarms.add(
        "InvalidWebhookSecrets",
        alarms.own.metric("InvalidWebhookSecrets", "Sum"),
        "An entry in the webhook secrets is malformed, so it is ignored: deliveries signed with it get 401.",
    )
    alarms.add(
        "DeliveriesOutOfScope",
        alarms.own.metric("DeliveriesOutOfScope", "Sum"),
        "A delivery was signed with a secret that isn't valid for its installation or repository.",
    )


def _jobs(alarms: Alarms, settings: Settings) -> None:
    for kind in STUCK:
        alarms.add(
            f"StuckJobs-{kind}",
            alarms.own.metric("StuckJobs", "Maximum", minutes=PASSES_MINUTES, kind=kind),
            f"Jobs have been stuck in {kind} for half an hour, and the reconciler couldn't correct them.",
            periods=2,
        )
    alarms.add(
        "ForgottenApprovals",
        alarms.own.metric("ForgottenApprovals", "Maximum", minutes=MINUTES_PER_HOUR),
        f"A deployment has waited for an approval for over {settings.forgotten_approval_hours} hours.",
    )
    if minutes := settings.queue_time_alarm_minutes:
        alarms.add(
            "QueueTime",
            alarms.own.metric("QueueTime", "p90", minutes=MINUTES_PER_HOUR),
            f"One in ten jobs that finished within an hour had waited over {minutes} minutes before it started.",
            threshold=minutes * MS_PER_MINUTE,
        )


def _reconciler(alarms: Alarms) -> None:
    # A failed lookup is retried: two consecutive periods mean that it keeps failing.
    alarms.add(
        "LookupsPostponed",
        alarms.own.metric("LookupsPostponed", "Sum", minutes=PASSES_MINUTES),
        "EC2, ECS or the price list hasn't responded to lookups for half an hour: jobs have no machine or price, and "
        "orphans aren't cleaned up.",
        periods=2,
    )
    alarms.add(
        "ReconciliationErrors",
        alarms.own.metric("ReconciliationErrors", "Sum", minutes=MINUTES_PER_HOUR),
        f"The reconciler gave up on more than {RECONCILIATION_ERRORS_AN_HOUR} items within an hour.",
        threshold=RECONCILIATION_ERRORS_AN_HOUR,
    )
    alarms.add(
        "OrphanRate",
        alarms.own.metric("OrphanedRunnerRate", "Average", minutes=MINUTES_PER_HOUR),
        f"More than {ORPHAN_RATE_PERCENT} % of the runners became orphans within an hour.",
        threshold=ORPHAN_RATE_PERCENT,
    )
    alarms.add(
        "OrphansOverdue",
        alarms.own.metric("OrphanedRunnersOverdue", "Maximum"),
        "An orphaned runner still hasn't been cleaned up ten minutes after its cleanup was due. It costs money.",
    )
