"""The subscriptions of each installation, kept in memory by the router and the sender."""

from collections.abc import Callable
from dataclasses import field

from runledger.model.dataclass import dataclass
from runledger.notifications.subscriptions import Subscription
from runledger.tables.subscriptions import SubscriptionsTable

# A change of a subscription takes effect within this time.
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
        """None if it was deleted or is disabled, which is always checked against the table, not the cache."""
        known = next((each for each in self.of(installation_id) if each.subscription_id == subscription_id), None)
        if known is None or not known.enabled:
            item = self.table.get(installation_id, subscription_id)
            known = Subscription.from_item(item) if item else None
        return known if known and known.enabled else None
