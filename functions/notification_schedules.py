"""Every few minutes: messages that are due go back to the queue, and digests and reminders are created."""

from typing import Any

from runledger.model import times
from runledger.platform import logs
from runledger.wiring import notification_schedules, notifications

# What is left to a message that was begun.
SECONDS_TO_END = 30
# What is left to schedules, however many messages are due.
SECONDS_OF_SCHEDULES = 120
sweep, schedules = notifications.sweep(), notification_schedules.schedules()


def handler(_event: dict[str, Any], context: Any) -> dict[str, int]:
    logs.follow(str(context.aws_request_id))

    def has(seconds: int) -> bool:
        return bool(context.get_remaining_time_in_millis() > seconds * times.MS_PER_SECOND)

    sent_again = sweep.run(has_time=lambda: has(SECONDS_OF_SCHEDULES + SECONDS_TO_END))
    return {"sent_again": sent_again, "scheduled": schedules.run(has_time=lambda: has(SECONDS_TO_END))}
