"""Checks the subscriptions that API callers create or change. Pure.

Malformed names the invalid field. It doesn't contain the value, which may be a misplaced secret.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

from runledger.feeds import json_data
from runledger.feeds.events import RESERVED, FeedType, custom_type_problem, is_kept
from runledger.model.errors import Malformed
from runledger.model.patterns import FOREIGN
from runledger.notifications.channels import configs
from runledger.notifications.channels.configs import ONLY_TYPES, ChannelSettings
from runledger.notifications.channels.interface import ChannelKind
from runledger.notifications.payloads import LONGEST_TEXT
from runledger.notifications.schedules import Content, Every, Schedule, Weekday
from runledger.notifications.subscriptions import FILTER_FIELDS, MOST_PER_HOUR, Subscription

TYPE = re.compile(r"\*|[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*(\.\*)?")
PATTERN = re.compile(rf"[^\s{re.escape(FOREIGN)}]+")
CONCLUSIONS = (
    *("success", "failure", "cancelled", "skipped", "timed_out", "neutral", "action_required", "startup_failure"),
    "stale",
)
LONGEST_NAME, LONGEST_PATTERN, MOST_PATTERNS = 100, 200, 50
LAST_HOUR = 23
CHANGEABLE = {"name", "config", "enabled", "at_most_per_hour", "schedule", *FILTER_FIELDS}
SCHEDULE_FIELDS = {"every", "hour", "timezone", "weekday", "content", "text"}


def with_changes(subscription: Subscription, values: Mapping[str, Any], settings: ChannelSettings) -> Subscription:
    """The subscription with these values. Fields that aren't given stay unchanged; null removes a value."""
    if unknown := sorted(values.keys() - CHANGEABLE):
        raise Malformed(unknown[0], "can't be changed" if unknown[0] == "kind" else "isn't a field of a subscription")
    changes: dict[str, Any] = {}
    for name, check in CHECKS.items():
        if name in values:
            changes[name] = check(name, values[name])
    if "config" in values or not subscription.config:
        given = values.get("config") or {}
        if not isinstance(given, Mapping):
            raise Malformed("config", "must be an object")
        changes["config"] = configs.check(subscription.kind, given, settings)
    filters = {name: FILTERS[name](name, values[name]) for name in FILTER_FIELDS if name in values}
    found = replace(subscription, **changes, filter=replace(subscription.filter, **filters))
    return _checked(found)


def schedule(name: str, value: Any) -> Schedule | None:
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise Malformed(name, "must be an object with every and hour")
    if unknown := sorted(value.keys() - SCHEDULE_FIELDS):
        raise Malformed(f"{name}.{unknown[0]}", "isn't a field of a schedule")
    hour, text = value.get("hour"), value.get("text")
    if type(hour) is not int or not 0 <= hour <= LAST_HOUR:
        raise Malformed(f"{name}.hour", f"must be a number from 0 to {LAST_HOUR}")
    found = Schedule(
        every=_choice(Every, f"{name}.every", value.get("every")),
        hour=hour,
        timezone=_timezone(f"{name}.timezone", value.get("timezone", "UTC")),
        weekday=_choice(Weekday, f"{name}.weekday", value.get("weekday", Weekday.MONDAY)),
        content=_choice(Content, f"{name}.content", value.get("content", Content.DIGEST)),
        text=None if text is None else _text(f"{name}.text", text, longest=LONGEST_TEXT),
    )
    if (found.content is Content.REMINDER) != (found.text is not None):
        raise Malformed(f"{name}.text", "must be given with the content reminder, and only then")
    return found


def _checked(found: Subscription) -> Subscription:
    """Checks rules that involve more than one field."""
    if not found.filter.types and found.schedule is None:
        raise Malformed("types", "must have at least one type, such as job.failed, unless there is a schedule")
    only = ONLY_TYPES.get(found.kind)
    if only and (found.filter.types != tuple(only) or found.schedule):
        raise Malformed("types", f"must be {', '.join(only)} for the channel {found.kind}, without a schedule")
    return found


def _text(name: str, value: Any, *, longest: int = LONGEST_NAME) -> str:
    if not isinstance(value, str) or not 0 < len(value.strip()) <= len(value) <= longest:
        raise Malformed(name, f"must be text of 1 to {longest} characters")
    if problem := json_data.problem_of(value):
        raise Malformed(name, problem)
    return value


def _name(name: str, value: Any) -> str:
    if not _text(name, value).isprintable():
        raise Malformed(name, "must be printable text")
    return str(value)


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise Malformed(name, "must be true or false")
    return value


def _limit(name: str, value: Any) -> int | None:
    if value is not None and (type(value) is not int or not 1 <= value <= MOST_PER_HOUR):
        raise Malformed(name, f"must be a number from 1 to {MOST_PER_HOUR}, or null for no limit")
    return value


def _patterns(name: str, value: Any, *, pattern: re.Pattern[str], example: str) -> tuple[str, ...]:
    given = [] if value is None else value
    if not isinstance(given, list) or len(given) > MOST_PATTERNS:
        raise Malformed(name, f"must be a list of at most {MOST_PATTERNS} patterns")
    for each in given:
        is_text = isinstance(each, str) and len(each) <= LONGEST_PATTERN and each.isprintable()
        if not is_text or not pattern.fullmatch(each):
            raise Malformed(
                name,
                f"must contain patterns such as {example}, of at most {LONGEST_PATTERN} characters each; "
                "* is the only wildcard",
            )
    return tuple(dict.fromkeys(given))


def _types(name: str, value: Any) -> tuple[str, ...]:
    """A type that no event can have would be a subscription that never sends anything."""
    given = _patterns(name, value, pattern=TYPE, example="job.failed or job.*")
    for each in given:
        word = each.partition(".")[0]
        if word in RESERVED and not any(is_kept(known, (each,)) for known in FeedType):
            family = [known for known in FeedType if known.partition(".")[0] in (word, word.removesuffix("s"))]
            exist = f"the types of {word} are {', '.join(family)}" if family else f"no event has a type of {word}"
            raise Malformed(name, f"contains an unknown type: {exist}")
        if word not in RESERVED and not each.endswith("*") and custom_type_problem(each):
            raise Malformed(name, "must contain types such as job.failed, job.* or, for custom events, audit.finished")
    return given


def _conclusions(name: str, value: Any) -> tuple[str, ...]:
    given = [] if value is None else value
    if not isinstance(given, list) or not set(map(str, given)) <= set(CONCLUSIONS):
        raise Malformed(name, f"must be a list of {', '.join(CONCLUSIONS)}")
    return tuple(dict.fromkeys(given))


def _choice(kind: Any, name: str, value: Any) -> Any:
    try:
        return kind(value)
    except ValueError:
        raise Malformed(name, f"must be one of {', '.join(kind)}") from None


def _timezone(name: str, value: Any) -> str:
    try:
        return str(ZoneInfo(value).key)
    except (ValueError, OSError, LookupError, TypeError, AttributeError):
        raise Malformed(name, "must be the name of a time zone, such as Europe/Berlin") from None


def kind_of(value: Any) -> ChannelKind:
    found: ChannelKind = _choice(ChannelKind, "kind", value)
    return found


CHECKS: Mapping[str, Callable[[str, Any], Any]] = {
    "name": _name,
    "enabled": _flag,
    "at_most_per_hour": _limit,
    "schedule": schedule,
}
FILTERS: Mapping[str, Callable[[str, Any], tuple[str, ...]]] = {
    "types": _types,
    "repositories": partial(_patterns, pattern=PATTERN, example="acme/api or acme/*"),
    "branches": partial(_patterns, pattern=PATTERN, example="main or release/*"),
    "conclusions": _conclusions,
}
