"""Digests and reminders of subscriptions with a schedule: each occurrence once, however often this runs.

Schedules are data that operators change over the API, so one tick looks for those that are due. With a schedule of
EventBridge for each subscription, the public API would need the permission to create them and to pass a role.
"""

from collections.abc import Callable, Iterator, MutableMapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Protocol

from runledger.model import times
from runledger.notifications import digest, messages
from runledger.notifications.digest import Period
from runledger.notifications.messages import SCHEDULES
from runledger.notifications.occurrences import Content
from runledger.notifications.outbox import Outbox
from runledger.notifications.subscriptions import Subscription
from runledger.notifications.texts import OwnType
from runledger.platform import logs
from runledger.tables.subscriptions import SubscriptionsTable

# After an outage, an occurrence that is older than this is no news.
LATEST_SECONDS = 6 * times.SECONDS_PER_HOUR

# The most that one digest takes of a tick, which all installations share. What wasn't read by then is missing in it.
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
    """Of some subscriptions; the others were posted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedules:
    """`clock` has seconds, for the time that a digest takes."""

    subscriptions: SubscriptionsTable
    outbox: Outbox
    digests: Digests
    clock: Callable[[], float]

    def run(self, *, has_time: HasTime = lambda: True) -> int:
        """The number of messages that were created. One that fails delays no other, and is tried at the next tick."""
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
        """The first subscription of each installation, then the second of each: one with many large digests delays no
        other by more than one of them.
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
        occurrence = schedule.last_occurrence(now)
        begin = max(times.earlier(now, seconds=LATEST_SECONDS), subscription.schedule_since or "")
        if occurrence < begin:
            return False
        kind = OwnType.DIGEST if schedule.content is Content.DIGEST else OwnType.REMINDER
        scope, own_id = subscription.installation_id, subscription.subscription_id
        if self.outbox.messages.get(scope, messages.own_id(kind, subscription, occurrence)):
            return False
        if schedule.content is Content.DIGEST:
            wanted = (scope, Period.ending(occurrence, digest.Schedule(schedule.every)), _only_repository(subscription))
            data = read.get(wanted) or self._digest(wanted, has_time)
            read[wanted] = data
        else:
            data = {"title": subscription.name, "text": schedule.text}
        message = messages.own_message(
            kind,
            data,
            subscription,
            identity=occurrence,
            at=now,
            created_by=SCHEDULES,
            correlation_id=f"{own_id}@{occurrence}",
        )
        return self.outbox.post(message)

    def _digest(self, wanted: Wanted, has_time: HasTime) -> dict[str, Any]:
        scope, period, only = wanted
        end = self.clock() + DIGEST_SECONDS
        return self.digests.read(scope, period, repo_full_name=only, has_time=lambda: has_time() and self.clock() < end)


def _only_repository(subscription: Subscription) -> str | None:
    """A digest is about the whole installation, or about the one repository that the subscription names."""
    repositories = subscription.filter.repositories
    return repositories[0] if len(repositories) == 1 and ANY_TEXT not in repositories[0] else None
