"""The schedule of a subscription, and when it is due. Pure.

The Lambda runtime includes the time zone database.
"""

from datetime import UTC, datetime, timedelta
from enum import StrEnum
from zoneinfo import ZoneInfo

from runledger.model import times
from runledger.model.dataclass import dataclass

DAYS_IN_A_WEEK = 7


class Every(StrEnum):
    DAY = "daily"
    WEEK = "weekly"

    @property
    def days(self) -> int:
        return DAYS_IN_A_WEEK if self is Every.WEEK else 1


class Content(StrEnum):
    DIGEST = "digest"
    REMINDER = "reminder"


class Weekday(StrEnum):
    """In the order of `datetime.weekday`."""

    MONDAY = "monday"
    TUESDAY = "tuesday"
    WEDNESDAY = "wednesday"
    THURSDAY = "thursday"
    FRIDAY = "friday"
    SATURDAY = "saturday"
    SUNDAY = "sunday"


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """At the full hour of a time zone, each day or on one day of the week. Only a reminder has `text`."""

    every: Every
    hour: int
    timezone: str = "UTC"
    weekday: Weekday = Weekday.MONDAY
    content: Content = Content.DIGEST
    text: str | None = None

    def last_due(self, now: str) -> str:
        """The latest time at or before `now`. If daylight saving time skips the hour, the next hour counts."""
        here = datetime.fromisoformat(now).astimezone(ZoneInfo(self.timezone))
        day = here.replace(hour=self.hour, minute=0, second=0, microsecond=0, fold=0)
        if self.every is Every.WEEK:
            day -= timedelta(days=(day.weekday() - list(Weekday).index(self.weekday)) % DAYS_IN_A_WEEK)
        if _instant(day) > now:
            day -= timedelta(days=self.every.days)
        return _instant(day)


def _instant(moment: datetime) -> str:
    return times.normalised(moment.astimezone(UTC).isoformat())
