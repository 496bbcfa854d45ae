"""Events of the feed become messages: one for each subscription that matches."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from runledger.notifications import messages
from runledger.notifications.messages import NewMessage
from runledger.notifications.outbox import Outbox
from runledger.notifications.subscriptions import Subscription
from runledger.tables.deliveries import DeliveriesTable
from runledger.tables.feed import written_at
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
    deliveries: DeliveriesTable
    outbox: Outbox

    def route(self, item: Mapping[str, Any]) -> Routed:
        """An event as it is in the feed. Repeatable: the ids of messages follow from the event and the subscription."""
        scope, position = item["installation_id"], item["SK"]
        payload = messages.event_envelope(item, written_at=written_at(position))
        matching = [each for each in self.subscriptions.of(scope) if each.matches(payload)]
        found = [messages.of_event(payload, each, at=self.outbox.now()) for each in matching]
        wanted = self._within_limits(found, matching, at=written_at(position))
        if wanted:
            self.deliveries.expect(
                scope,
                item["event_id"],
                position=position,
                message_ids=[each.message_id for each in wanted],
                at=self.outbox.now(),
            )
        created = sum(self.outbox.post(each) for each in wanted)
        return Routed(created=created, suppressed=len(found) - len(wanted))

    def _within_limits(
        self, found: Sequence[NewMessage], matching: Sequence[Subscription], *, at: str
    ) -> list[NewMessage]:
        """Counted in the hour in which the event was written: however often it is repeated, it is the same hour."""
        return [
            message
            for message, subscription in zip(found, matching, strict=True)
            if not subscription.at_most_per_hour
            or self.deliveries.count_in_hour(
                message.installation_id,
                subscription.subscription_id,
                message.message_id,
                at=at,
                most=subscription.at_most_per_hour,
            )
        ]
