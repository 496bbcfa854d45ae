"""Every few minutes: queues overdue messages again, and creates digests and reminders."""

from typing import Any

from runledger.platform import logs
from runledger.wiring import notification_schedules, notifications

# Reserved for finishing the current message.
RESERVED_MS = 30_000
# Reserved for schedules, even if many messages are due.
SCHEDULES_RESERVED_MS = 120_000
sweep, schedules = notifications.sweep(), notification_schedules.schedules()


def handler(_event: dict[str, Any], context: Any) -> dict[str, int]:
    logs.set_correlation_id(str(context.aws_request_id))

    def has_left(ms: int) -> bool:
        return bool(context.get_remaining_time_in_millis() > ms)

    sent_again = sweep.run(has_time=lambda: has_left(SCHEDULES_RESERVED_MS + RESERVED_MS))
    return {"sent_again": sent_again, "scheduled": schedules.run(has_time=lambda: has_left(RESERVED_MS))}
