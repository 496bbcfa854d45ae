"""The health of receivers: those that fail are paused, and those that are slow use a separate lane."""

from collections.abc import Mapping
from typing import Any

from runledger.model import times
from runledger.model.dataclass import dataclass
from runledger.notifications import attempts
from runledger.notifications.attempts import ReceiverState
from runledger.notifications.queue import Lane
from runledger.notifications.subscriptions import Subscription
from runledger.tables.receivers import ReceiversTable

# Longer than an attempt can take.
PROBE_SECONDS = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Receivers:
    table: ReceiversTable

    def health(self, subscription: Subscription) -> Mapping[str, Any]:
        return self.table.get(subscription.installation_id, subscription.subscription_id)

    def admits(self, subscription: Subscription, health: Mapping[str, Any], *, now: str) -> bool:
        """Whether a message may be sent now. After a pause, one sender makes one attempt, and the others wait."""
        found = attempts.receiver_state(health, now=now)
        if found is not ReceiverState.PROBE:
            return found is ReceiverState.OPEN
        until = times.later(now, seconds=PROBE_SECONDS)
        return self.table.take_probe(subscription.installation_id, subscription.subscription_id, health, until=until)

    def succeeded(self, subscription: Subscription, health: Mapping[str, Any], *, at: str, took_ms: int) -> None:
        is_slow = took_ms > attempts.SLOW_MS
        if attempts.is_news(health, is_slow=is_slow, at=at):
            self.table.succeeded(subscription.installation_id, subscription.subscription_id, at=at, is_slow=is_slow)

    def failed(self, subscription: Subscription, *, at: str, error: str, retry_after: int | None) -> None:
        installation_id, subscription_id = subscription.installation_id, subscription.subscription_id
        failures = self.table.failed(installation_id, subscription_id, at=at, error=error)
        if seconds := attempts.pause_seconds(failures, retry_after=retry_after):
            self.table.pause(installation_id, subscription_id, until=times.later(at, seconds=seconds))


def lane_of(health: Mapping[str, Any]) -> Lane:
    return Lane.SLOW if health.get("is_slow") or health.get("failures") else Lane.FAST
