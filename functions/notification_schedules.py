"""Every few minutes: messages that are due go back to the queue, and digests and reminders are created."""

from typing import Any

from runledger.model import times
from runledger.platform import logs
from runledger.wiring import notification_schedules, notifications

# What is left to a message that was begun.
SECONDS_TO_END = 30
sweep, schedules = notifications.sweep(), notification_schedules.schedules()


def handler(_event: dict[str, Any], context: Any) -> dict[str, int]:
    logs.follow(str(context.aws_request_id))

    def has_time() -> bool:
        return bool(context.get_remaining_time_in_millis() > SECONDS_TO_END * times.MS_PER_SECOND)

    return {"sent_again": sweep.run(has_time=has_time), "scheduled": schedules.run(has_time=has_time)}
