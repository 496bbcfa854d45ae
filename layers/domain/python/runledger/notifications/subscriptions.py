"""Subscriptions: which events go to which channel. Pure."""

from collections.abc import Mapping
from dataclasses import asdict, field, fields
from typing import Any

from runledger.model.dataclass import dataclass
from runledger.notifications.channels.interface import ChannelKind
from runledger.notifications.filters import EventFilter
from runledger.notifications.schedules import Content, Every, Schedule, Weekday

MOST_SUBSCRIPTIONS = 100
# One item holds the ids of an hour's messages.
MOST_PER_HOUR = 200
FILTER_FIELDS = tuple(each.name for each in fields(EventFilter))


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscription:
    """`secret_name` is the name of its secret in Secrets Manager. `version` increases with each change.
    `schedule_since` is when the schedule was changed or the subscription was enabled: earlier due times are ignored.

    After a rotation, messages are signed with the previous secret too, until `previous_secret_until`.
    """

    installation_id: int
    subscription_id: str
    name: str
    kind: ChannelKind
    created_at: str
    created_by: str
    updated_at: str
    config: Mapping[str, Any] = field(default_factory=dict)
    filter: EventFilter = field(default_factory=EventFilter)
    at_most_per_hour: int | None = None
    schedule: Schedule | None = None
    enabled: bool = True
    version: int = 1
    schedule_since: str | None = None
    secret_name: str | None = None
    previous_secret_until: str | None = None

    def matches(self, envelope: Mapping[str, Any]) -> bool:
        return self.enabled and self.filter.matches(envelope)

    def to_item(self) -> dict[str, Any]:
        plain = {
            each.name: getattr(self, each.name) for each in fields(self) if each.name not in ("filter", "schedule")
        }
        filters = {name: list(getattr(self.filter, name)) for name in FILTER_FIELDS}
        schedule = (
            {name: value for name, value in asdict(self.schedule).items() if value is not None}
            if self.schedule
            else None
        )
        return {
            name: value
            for name, value in {**plain, **filters, "config": dict(self.config), "schedule": schedule}.items()
            if value is not None
        }

    @classmethod
    def from_item(cls, item: Mapping[str, Any]) -> "Subscription":
        """Attributes of newer releases are ignored."""
        known = {each.name: item[each.name] for each in fields(cls) if each.name in item}
        known |= {
            "kind": ChannelKind(item["kind"]),
            "filter": EventFilter(**{name: tuple(item.get(name, ())) for name in FILTER_FIELDS}),
            "schedule": schedule_from(item["schedule"]) if item.get("schedule") else None,
        }
        return cls(**known)


def schedule_from(values: Mapping[str, Any]) -> Schedule:
    return Schedule(
        every=Every(values["every"]),
        hour=values["hour"],
        timezone=values.get("timezone", "UTC"),
        weekday=Weekday(values.get("weekday", Weekday.MONDAY)),
        content=Content(values.get("content", Content.DIGEST)),
        text=values.get("text"),
    )
