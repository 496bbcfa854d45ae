"""Turns feed events into messages: one for each subscription that matches."""

from collections.abc import Mapping
from typing import Any

from runledger.model.dataclass import dataclass
from runledger.notifications import messages
from runledger.notifications.outbox import Outbox
from runledger.notifications.subscription_cache import SubscriptionCache
from runledger.notifications.subscriptions import Subscription
from runledger.tables import schema
from runledger.tables.event_messages import EventMessagesTable
from runledger.tables.feed import written_at
from runledger.tables.message_counts import MessageCounts


@dataclass(frozen=True, slots=True, kw_only=True)
class Routed:
    created: int = 0
    suppressed: int = 0

    def __add__(self, other: "Routed") -> "Routed":
        return Routed(created=self.created + other.created, suppressed=self.suppressed + other.suppressed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Router:
    subscriptions: SubscriptionCache
    event_messages: EventMessagesTable
    outbox: Outbox
    counts: MessageCounts

    def route(self, item: Mapping[str, Any]) -> Routed:
        """Routes a stored event. Safe to repeat: message ids are derived from the event and the subscription."""
        installation_id, event_id, position = item["installation_id"], item["event_id"], item[schema.SORT]
        at = written_at(position)
        payload = messages.event_envelope(item, written_at=at)
        # Events may be routed long after they were written. A new subscription doesn't get older events.
        known = (each for each in self.subscriptions.of(installation_id) if each.created_at <= at)
        matching = [each for each in known if each.matches(payload)]
        wanted = [each.subscription_id for each in matching if self._is_within_limit(each, event_id, at=at)]
        if not wanted or not self._is_admitted(installation_id, event_id, len(wanted)):
            return Routed(suppressed=len(matching))
        now = self.outbox.now()
        pending = self.event_messages.expect(
            installation_id, event_id, position=position, subscription_ids=wanted, at=now
        )
        found = [messages.of_event(payload, each, installation_id=installation_id, at=now) for each in sorted(pending)]
        return Routed(created=sum(map(self.outbox.post, found)), suppressed=len(matching) - len(wanted))

    def _is_admitted(self, installation_id: int, event_id: str, number: int) -> bool:
        """A repeated event counts again. If it was admitted before, it stays so: some of its messages may exist."""
        if self.counts.count(installation_id, number, at=self.outbox.now()):
            return True
        return self.event_messages.position(installation_id, event_id) is not None

    def _is_within_limit(self, subscription: Subscription, event_id: str, *, at: str) -> bool:
        """Counts in the hour in which the event was written, so that a repetition counts in the same hour."""
        most = subscription.at_most_per_hour
        if not most:
            return True
        installation_id, subscription_id = subscription.installation_id, subscription.subscription_id
        message_id = messages.id_of_event(installation_id, event_id, subscription_id)
        return self.event_messages.count_in_hour(installation_id, subscription_id, message_id, at=at, most=most)
