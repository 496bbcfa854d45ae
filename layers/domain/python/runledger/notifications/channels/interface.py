"""The interface of all channels: what they send, and what they return. Pure.

The API loads only this module and `configs`, which checks the configuration of a subscription. `opening` creates
channels, and loads the modules that use the network.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Protocol

from runledger.model.dataclass import dataclass


class ChannelKind(StrEnum):
    WEBHOOK = "webhook"
    SLACK = "slack"
    NTFY = "ntfy"
    SNS = "sns"
    EVENTBRIDGE = "eventbridge"
    RELAUNCH = "relaunch"


class SendOutcome(StrEnum):
    """REFUSED is final: the receiver rejects this message, or the channel's configuration doesn't work."""

    ACCEPTED = "accepted"
    TRY_LATER = "try_later"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing:
    """`message_id` is the same for each attempt, so that a receiver can recognise a message that it has processed.

    `envelope` is a CloudEvent from `feeds.envelope`. `sent_at` is the time of this attempt.
    """

    message_id: str
    envelope: Mapping[str, Any]
    sent_at: str
    attempt: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class SendResult:
    """`notification_id` is the id that the receiver gave the message.

    `error` is short, and contains neither a secret nor the receiver's response: readers of messages see it, and the
    response may come from a system that they have no access to.
    """

    outcome: SendOutcome
    notification_id: str | None = None
    error: str | None = None
    retry_after_seconds: int | None = None

    @classmethod
    def accepted(cls, notification_id: str | None = None) -> "SendResult":
        return cls(outcome=SendOutcome.ACCEPTED, notification_id=notification_id)

    @classmethod
    def try_later(cls, error: str, *, retry_after_seconds: int | None = None) -> "SendResult":
        return cls(outcome=SendOutcome.TRY_LATER, error=error, retry_after_seconds=retry_after_seconds)

    @classmethod
    def refused(cls, error: str) -> "SendResult":
        return cls(outcome=SendOutcome.REFUSED, error=error)


class Channel(Protocol):
    def send(self, outgoing: Outgoing) -> SendResult:
        """Makes one attempt. Whatever the receiver does, it returns a result and never raises."""
