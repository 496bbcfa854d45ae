"""Events of the feed become messages: one for each subscription that matches."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from runledger.notifications import messages
from runledger.notifications.outbox import Outbox
from runledger.notifications.subscriptions import Subscription
from runledger.tables.event_messages import EventMessagesTable
from runledger.tables.feed import written_at
from runledger.tables.message_counts import MessageCounts
from runledger.tables.subscriptions import SubscriptionsTable

# A change of a subscription takes effect after this time at most.
FRESH_SECONDS = 30


@dataclass(slots=True, kw_only=True)
class SubscriptionCache:
    table: SubscriptionsTable
    clock: Callable[[], float]
    _read: dict[int, tuple[float, tuple[Subscription, ...]]] = field(default_factory=dict)

    def of(self, installation_id: int) -> tuple[Subscription, ...]:
        read_at, found = self._read.get(installation_id, (float("-inf"), ()))
        if self.clock() - read_at > FRESH_SECONDS:
            found = tuple(map(Subscription.from_item, self.table.all(installation_id)))
            self._read[installation_id] = self.clock(), found
        return found

    def enabled(self, installation_id: int, subscription_id: str) -> Subscription | None:
        """None if it was deleted or is disabled. That is never concluded from what was read a while ago."""
        known = next((each for each in self.of(installation_id) if each.subscription_id == subscription_id), None)
        if known is None or not known.enabled:
            item = self.table.get(installation_id, subscription_id)
            known = Subscription.from_item(item) if item else None
        return known if known and known.enabled else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Routed:
    created: int = 0
    suppressed: int = 0

    def __add__(self, other: "Routed") -> "Routed":
        return Routed(created=self.created + other.created, suppressed=self.suppressed + other.suppressed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Router:
    subscriptions: SubscriptionCache
    deliveries: EventMessagesTable
    outbox: Outbox
    counts: MessageCounts

    def route(self, item: Mapping[str, Any]) -> Routed:
        """An event as it is in the feed. Repeatable: the ids of messages follow from the event and the subscription."""
        scope, event_id, at = item["installation_id"], item["event_id"], written_at(item["SK"])
        payload = messages.event_envelope(item, written_at=at)
        # Events may be routed long after they were written: a new subscription doesn't get those before it.
        known = (each for each in self.subscriptions.of(scope) if each.created_at <= at)
        matching = [each for each in known if each.matches(payload)]
        wanted = [each.subscription_id for each in matching if self._is_within_limit(each, event_id, at=at)]
        if not wanted or not self._is_admitted(scope, event_id, len(wanted)):
            return Routed(suppressed=len(matching))
        now = self.outbox.now()
        pending = self.deliveries.expect(scope, event_id, position=item["SK"], subscription_ids=wanted, at=now)
        found = [messages.of_event(payload, each, installation_id=scope, at=now) for each in sorted(pending)]
        return Routed(created=sum(map(self.outbox.post, found)), suppressed=len(matching) - len(wanted))

    def _is_admitted(self, installation_id: int, event_id: str, number: int) -> bool:
        """Repeated events count again. One that was admitted before stays so: some of its messages may exist."""
        if self.counts.count(installation_id, number, at=self.outbox.now()):
            return True
        return self.deliveries.position(installation_id, event_id) is not None

    def _is_within_limit(self, subscription: Subscription, event_id: str, *, at: str) -> bool:
        """Counted in the hour in which the event was written: however often it is repeated, it is the same hour."""
        scope, own_id, most = subscription.installation_id, subscription.subscription_id, subscription.at_most_per_hour
        if not most:
            return True
        message_id = messages.id_of_event(scope, event_id, own_id)
        return self.deliveries.count_in_hour(scope, own_id, message_id, at=at, most=most)
