"""The queues from message creators to the sender.

There are two lanes, each with its own senders. Receivers that are slow or fail use the slow lane, where they delay only
each other. In both lanes, the installation is the message group: SQS hands out the messages of other installations
before those of an installation with a backlog (fair queues).
"""

import json
from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from runledger.model import message_format
from runledger.model.dataclass import dataclass
from runledger.platform.availability import translate_errors

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

# SQS delays a message by at most this long.
LONGEST_DELAY_SECONDS = 900


class Lane(StrEnum):
    FAST = "fast"
    SLOW = "slow"


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedMessage:
    """One attempt to send a message. `dispatch` is its number: see `tables.messages`."""

    installation_id: int
    message_id: str
    dispatch: int
    lane: Lane = Lane.FAST

    @classmethod
    def of(cls, message: Mapping[str, Any], lane: Lane = Lane.FAST) -> "QueuedMessage":
        return cls(
            installation_id=message["installation_id"],
            message_id=message["message_id"],
            dispatch=message["dispatch"],
            lane=lane,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class NotificationQueue:
    sqs: "SQSClient"
    urls: Mapping[Lane, str]

    @translate_errors("the notification queue")
    def send(self, queued: QueuedMessage, *, delay_seconds: int = 0) -> None:
        values = {
            "installation_id": queued.installation_id,
            "message_id": queued.message_id,
            "dispatch": queued.dispatch,
            "lane": queued.lane,
        }
        delay: dict[str, Any] = {"DelaySeconds": min(delay_seconds, LONGEST_DELAY_SECONDS)} if delay_seconds else {}
        body = json.dumps(message_format.stamp(values, correlation_id=queued.message_id))
        group = str(queued.installation_id)
        self.sqs.send_message(QueueUrl=self.urls[queued.lane], MessageBody=body, MessageGroupId=group, **delay)


def read(message: str) -> QueuedMessage:
    """Raises Malformed or NewerMessage if `NotificationQueue` didn't create the message."""
    found: QueuedMessage = message_format.read(QueuedMessage, dict(message_format.parse(message)))
    return found
