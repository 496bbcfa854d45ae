"""Posts the digests and reminders that are due: one message per due time, however often this runs.

Operators change schedules over the API, so one tick looks for those that are due. With an EventBridge schedule for each
subscription, the public API would need permissions to create schedules and to pass a role.
"""

from collections.abc import Callable, Iterator, MutableMapping
from itertools import zip_longest
from typing import Any, Protocol

from runledger.model import times
from runledger.model.dataclass import dataclass
from runledger.notifications import messages
from runledger.notifications.digest import Period
from runledger.notifications.messages import SCHEDULES, Author
from runledger.notifications.outbox import Outbox
from runledger.notifications.schedules import Content
from runledger.notifications.subscriptions import Subscription
from runledger.notifications.texts import RunledgerType
from runledger.platform import logs
from runledger.tables.subscriptions import SubscriptionsTable

# After an outage, digests and reminders that were due longer ago aren't posted.
LATEST_SECONDS = 6 * times.SECONDS_PER_HOUR

# Time limit of one digest: all installations share a tick. Jobs that weren't read by then are missing from the digest.
DIGEST_SECONDS = 60

HasTime = Callable[[], bool]
# The installation, the period, and the only repository.
Wanted = tuple[int, Period, str | None]
ANY_TEXT = "*"


class Digests(Protocol):
    def read(
        self, installation_id: int, period: Period, *, repo_full_name: str | None, has_time: HasTime
    ) -> dict[str, Any]: ...


class SchedulesFailed(Exception):
    """The schedules of some subscriptions failed. The messages of the others were posted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedules:
    """`clock` measures how long a digest takes, in seconds."""

    subscriptions: SubscriptionsTable
    outbox: Outbox
    digests: Digests
    clock: Callable[[], float]

    def run(self, *, has_time: HasTime = lambda: True) -> int:
        """The number of messages created. A schedule that fails doesn't delay others, and the next tick retries it."""
        posted, failed, read = 0, 0, dict[Wanted, dict[str, Any]]()
        for item in self._in_turns():
            if not has_time():
                break
            try:
                posted += self._post(Subscription.from_item(item), read, has_time)
            except Exception:
                about = {"subscription_id": item.get("subscription_id")}
                logs.logger.exception("schedule failed", extra=about)
                failed += 1
        if failed:
            raise SchedulesFailed(f"{failed} schedules failed")
        return posted

    def _in_turns(self) -> Iterator[dict[str, Any]]:
        """The first subscription of each installation, then the second of each, so that an installation with many large
        digests delays the others by only one digest per turn.
        """
        found = [
            [item for item in self.subscriptions.all(installation_id) if item.get("enabled") and item.get("schedule")]
            for installation_id in self.subscriptions.subscribers()
        ]
        for turn in zip_longest(*found):
            yield from (item for item in turn if item is not None)

    def _post(
        self, subscription: Subscription, read: MutableMapping[Wanted, dict[str, Any]], has_time: HasTime
    ) -> bool:
        assert subscription.schedule is not None
        schedule, now = subscription.schedule, self.outbox.now()
        due_at = schedule.last_due(now)
        begin = max(times.earlier(now, seconds=LATEST_SECONDS), subscription.schedule_since or "")
        if due_at < begin:
            return False
        kind = RunledgerType.DIGEST if schedule.content is Content.DIGEST else RunledgerType.REMINDER
        installation_id, subscription_id = subscription.installation_id, subscription.subscription_id
        if self.outbox.messages.get(installation_id, messages.runledger_message_id(kind, subscription, due_at)):
            return False
        if schedule.content is Content.DIGEST:
            wanted = (installation_id, Period.ending(due_at, schedule.every), _only_repository(subscription))
            data = read.get(wanted) or self._digest(wanted, has_time)
            read[wanted] = data
        else:
            data = {"title": subscription.name, "text": schedule.text}
        author = Author(id=SCHEDULES, at=now, correlation_id=f"{subscription_id}@{due_at}", deployment_urls=())
        message = messages.runledger_message(kind, data, subscription, author, identity=due_at)
        return self.outbox.post(message)

    def _digest(self, wanted: Wanted, has_time: HasTime) -> dict[str, Any]:
        installation_id, period, only = wanted
        end = self.clock() + DIGEST_SECONDS
        return self.digests.read(
            installation_id, period, repo_full_name=only, has_time=lambda: has_time() and self.clock() < end
        )


def _only_repository(subscription: Subscription) -> str | None:
    """A digest covers the whole installation, unless the subscription names exactly one repository."""
    repositories = subscription.filter.repositories
    return repositories[0] if len(repositories) == 1 and ANY_TEXT not in repositories[0] else None
