"""Sends messages: each queued message is at most one attempt.

    read ── claim (processing, with a lease) ── send ── completed, failed, or the next attempt

If a sender dies after `claim`, its lease expires, and SQS delivers the queued message again. If it died between `send`
and the write that follows, the receiver gets the message twice, with the same id. Nothing else sends a message twice.
"""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, Protocol

from runledger.model import times
from runledger.model.dataclass import dataclass
from runledger.model.messages import ENDED, MessageStatus, gives_up_at
from runledger.notifications import attempts, telemetry
from runledger.notifications.attempts import Dice, ReceiverState
from runledger.notifications.channels.interface import Channel, Outgoing, SendOutcome, SendResult
from runledger.notifications.event_status import EventStatus
from runledger.notifications.queue import LONGEST_DELAY_SECONDS, Lane, NotificationQueue, QueuedMessage
from runledger.notifications.receivers import Receivers, lane_of
from runledger.notifications.subscription_cache import SubscriptionCache
from runledger.notifications.subscriptions import Subscription
from runledger.notifications.texts import RunledgerType
from runledger.tables.messages import MessagesTable, NextAttempt

# Longer than the sender's timeout, and shorter than the queue's visibility timeout.
LEASE_SECONDS = 120
# SQS delays by whole seconds, and clocks differ.
EARLY_SECONDS = 1
# After a day, a message has this much time left for an attempt that was due before.
LATE_SECONDS = times.SECONDS_PER_HOUR
NEVER_SENT = "No attempt could be made for a day"
GONE = "The subscription was deleted or disabled before the message was sent"


class Sent(StrEnum):
    """The result of one queued attempt."""

    COMPLETED = "completed"
    RETRIED = "retried"
    FAILED = "failed"
    DEFERRED = "deferred"
    MOVED = "moved"  # to the slow lane
    DROPPED = "dropped"  # nothing to do: the message has ended, or another attempt or sender has it


class OpenChannel(Protocol):
    def __call__(self, subscription: Subscription) -> Channel: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Sender:
    messages: MessagesTable
    subscriptions: SubscriptionCache
    receivers: Receivers
    events: EventStatus
    queue: NotificationQueue
    open_channel: OpenChannel
    now: Callable[[], str]
    dice: Dice

    def process(self, queued: QueuedMessage) -> Sent:
        message, now = self.messages.get(queued.installation_id, queued.message_id), self.now()
        if message is None:
            return Sent.DROPPED  # expired
        if message["status"] in ENDED:
            self.events.ended(message, MessageStatus(message["status"]))
            return Sent.DROPPED
        if queued.dispatch != message["dispatch"]:
            return Sent.DROPPED
        if (wait := _seconds_until(message.get("next_attempt_at"), now)) > EARLY_SECONDS:
            self.queue.send(queued, delay_seconds=round(wait))
            return Sent.DEFERRED
        subscription = self.subscriptions.enabled(queued.installation_id, message["subscription_id"])
        if subscription is None:
            return self._abandon(message, GONE)
        return self._attempt(queued, message, subscription, now)

    def _attempt(self, queued: QueuedMessage, message: Mapping[str, Any], subscription: Subscription, now: str) -> Sent:
        if now > times.later(gives_up_at(message["created_at"]), seconds=LATE_SECONDS):
            # Give up, whatever the cause: otherwise the sweep would requeue the message until it expires.
            return self._abandon(message, message.get("error_message") or NEVER_SENT)
        health = self.receivers.health(subscription)
        if queued.lane is Lane.FAST and lane_of(health) is Lane.SLOW:
            self.queue.send(QueuedMessage.of(message, Lane.SLOW))
            return Sent.MOVED
        # A test shows whether the receiver works again, so a pause doesn't hold it back.
        if not _is_test(message) and not self.receivers.admits(subscription, health, now=now):
            return self._defer(message, health, now)
        channel = self.open_channel(subscription)
        claimed = self.messages.claim(message, at=now, until=times.later(now, seconds=LEASE_SECONDS))
        if claimed is None:
            return Sent.DROPPED
        payload = self.messages.payload(queued.installation_id, queued.message_id) or {}
        result = channel.send(
            Outgoing(message_id=queued.message_id, envelope=payload, sent_at=now, attempt=claimed["retry_count"] + 1)
        )
        return self._record(claimed, subscription, health, result, started_at=now)

    def _record(
        self,
        claimed: Mapping[str, Any],
        subscription: Subscription,
        health: Mapping[str, Any],
        result: SendResult,
        *,
        started_at: str,
    ) -> Sent:
        """Stores the message's result first: no later step sends it again."""
        at, error = self.now(), result.error or "The receiver didn't accept the message"
        match result.outcome:
            case SendOutcome.ACCEPTED:
                done = self._complete(claimed, result.notification_id, at)
                took_ms = times.ms_between(started_at, at)
                self.receivers.succeeded(subscription, health, at=at, took_ms=took_ms)
                return done
            case SendOutcome.REFUSED:
                done = self._fail(claimed, error, at)
            case SendOutcome.TRY_LATER:
                done = self._retry(claimed, result, error, at)
        # Tests are sent during a pause. If their failures extended it, a few tests would delay all messages by half an
        # hour.
        if not _is_test(claimed) or attempts.receiver_state(health, now=started_at) is ReceiverState.OPEN:
            self.receivers.failed(subscription, at=at, error=error, retry_after=result.retry_after_seconds)
        return done

    def _complete(self, claimed: Mapping[str, Any], notification_id: str | None, at: str) -> Sent:
        if not self.messages.complete(claimed, at=at, notification_id=notification_id):
            return Sent.DROPPED
        telemetry.completed(claimed, at=at)
        self.events.ended(claimed, MessageStatus.COMPLETED)
        return Sent.COMPLETED

    def _fail(self, claimed: Mapping[str, Any], error: str, at: str) -> Sent:
        if not self.messages.fail(claimed, at=at, error=error):
            return Sent.DROPPED
        telemetry.failed(claimed, error)
        self.events.ended(claimed, MessageStatus.FAILED)
        return Sent.FAILED

    def _retry(self, claimed: Mapping[str, Any], result: SendResult, error: str, at: str) -> Sent:
        count = claimed["retry_count"]
        wait = attempts.retry_seconds(count, retry_after=result.retry_after_seconds, dice=self.dice)
        following = _next(claimed, at, wait)
        if following.at > gives_up_at(claimed["created_at"]):
            return self._fail(claimed, error, at)
        if not self.messages.retry(claimed, following, at=at, error=error):
            return Sent.DROPPED
        telemetry.retried(claimed, error, next_at=following.at)
        self._enqueue(claimed, following, wait)
        self.events.retrying(claimed, retry_count=count + 1)
        return Sent.RETRIED

    def _defer(self, message: Mapping[str, Any], health: Mapping[str, Any], now: str) -> Sent:
        """Waits until the receiver's pause ends. This isn't an attempt, so it doesn't count as a retry."""
        paused_until = max(health.get("paused_until", now), now)
        wait = _seconds_until(paused_until, now) + 1 + attempts.SPREAD_SECONDS * self.dice()
        following = _next(message, now, wait)
        if following.at > gives_up_at(message["created_at"]):
            return self._abandon(message, health.get("last_error") or "The receiver was unavailable for a day")
        if self.messages.defer(message, following, at=now):
            self._enqueue(message, following, wait)
        return Sent.DEFERRED

    def _abandon(self, message: Mapping[str, Any], error: str) -> Sent:
        if not self.messages.abandon(message, at=self.now(), error=error):
            return Sent.DROPPED
        telemetry.failed(message, error)
        self.events.ended(message, MessageStatus.FAILED)
        return Sent.FAILED

    def _enqueue(self, message: Mapping[str, Any], following: NextAttempt, wait: float) -> None:
        """In the slow lane, because the receiver has failed."""
        if not following.parked:
            queued = QueuedMessage.of({**message, "dispatch": following.dispatch}, Lane.SLOW)
            self.queue.send(queued, delay_seconds=max(1, round(wait)))


def _is_test(message: Mapping[str, Any]) -> bool:
    return bool(message["message_type"] == RunledgerType.TEST)


def _next(message: Mapping[str, Any], at: str, wait: float) -> NextAttempt:
    return NextAttempt(
        at=times.later(at, seconds=wait),
        parked=wait > LONGEST_DELAY_SECONDS,
        dispatch=message["dispatch"] + 1,
    )


def _seconds_until(instant: str | None, now: str) -> float:
    return max(times.ms_between(now, instant) / times.MS_PER_SECOND, 0) if instant else 0
