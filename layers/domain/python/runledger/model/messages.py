"""The lifecycle of a notification message: one event, test, digest or text for one subscription."""

from enum import StrEnum

from runledger.model import times

# A message that no receiver has accepted within a day fails.
GIVE_UP_SECONDS = times.SECONDS_PER_DAY


class MessageStatus(StrEnum):
    """Statuses change in this order, never backwards.

    A message that waits for another attempt is still `processing`.
    """

    CREATED = "created"
    QUEUED = "queued"
    PROCESSING = "processing"
    COMPLETED = "completed"
    FAILED = "failed"


class FeedStatus(StrEnum):
    """Whether the messages of a feed event were delivered."""

    RECEIVED = "received"
    RETRYING = "retrying"
    DELIVERED = "delivered"
    FAILED = "failed"


ENDED = frozenset({MessageStatus.COMPLETED, MessageStatus.FAILED})
OPEN_STATUSES = tuple(status for status in MessageStatus if status not in ENDED)


def gives_up_at(created_at: str) -> str:
    return times.later(created_at, seconds=GIVE_UP_SECONDS)
