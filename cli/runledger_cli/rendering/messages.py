"""Renders subscriptions and notification messages."""

from __future__ import annotations

import json
from typing import Any

from runledger_cli.rendering.formatting import NOTHING, printable
from runledger_cli.rendering.style import Style, Tone
from runledger_cli.rendering.tables import Cell, Column, pairs, table

MESSAGES = (
    Column(title="MESSAGE"),
    Column(title="STATUS"),
    Column(title="TYPE", optional=3),
    Column(title="SUBSCRIPTION", shrinks=True),
    Column(title="ABOUT", shrinks=True),
    Column(title="CREATED", optional=1),
    Column(title="RETRIES", right=True, optional=2),
    Column(title="ERROR", flows=True),
)
SUBSCRIPTIONS = (
    Column(title="SUBSCRIPTION"),
    Column(title="NAME", shrinks=True),
    Column(title="CHANNEL"),
    Column(title="HEALTH"),
    Column(title="LAST SUCCESS", optional=1),
    Column(title="SENDS", flows=True),
)
TONES = {
    **dict.fromkeys(("created", "queued", "slow"), Tone.PENDING),
    **dict.fromkeys(("processing",), Tone.BUSY),
    **dict.fromkeys(("completed", "healthy"), Tone.GOOD),
    **dict.fromkeys(("failed", "failing", "paused"), Tone.BAD),
    "disabled": Tone.FAINT,
}
RETRYING = "retrying"


def status(message: dict[str, Any]) -> str:
    """A message that waits for another attempt is `processing`."""
    waits = message["status"] == "processing" and message.get("next_attempt_at") and message.get("error_message")
    return RETRYING if waits else str(message["status"])


def messages_table(style: Style, items: list[dict[str, Any]], names: dict[str, str]) -> list[str]:
    rows = [
        (
            each["message_id"],
            _cell(status(each)),
            each["message_type"],
            names.get(each["subscription_id"], "deleted"),
            each.get("title") or each["message_type"],  # messages of earlier versions have no title
            style.time(each["created_at"]),
            each["retry_count"],
            _error(each),
        )
        for each in items
    ]
    return table(style, MESSAGES, rows)


def _error(message: dict[str, Any]) -> str | None:
    again = message.get("resent_as")
    parts = (message.get("error_message"), f"sent again as {again}" if again else None)
    return "; ".join(filter(None, parts)) or None


def subscriptions_table(style: Style, items: list[dict[str, Any]]) -> list[str]:
    rows = [
        (
            each["subscription_id"],
            each["name"],
            each["kind"],
            _cell(health(each)),
            style.time(each.get("health", {}).get("succeeded_at")),
            rules(each),
        )
        for each in items
    ]
    return table(style, SUBSCRIPTIONS, rows)


def health(subscription: dict[str, Any]) -> str:
    if not subscription["enabled"]:
        return "disabled"
    return str(subscription.get("health", {}).get("status", "unknown"))


def rules(subscription: dict[str, Any]) -> str:
    """What it sends, in one line."""
    limit = subscription.get("at_most_per_hour")
    filters = [
        f"{label} {', '.join(subscription[name])}"
        for name, label in (("repositories", "of"), ("branches", "on"), ("conclusions", "with"))
        if subscription[name]
    ]
    parts = [
        ", ".join(subscription["types"]),
        *filters,
        f"at most {limit} an hour" if limit else "",
        _schedule(subscription.get("schedule")),
    ]
    return "; ".join(filter(None, parts)) or NOTHING


def _schedule(schedule: dict[str, Any] | None) -> str:
    if not schedule:
        return ""
    day = f" on {schedule.get('weekday', 'monday')}" if schedule["every"] == "weekly" else ""
    time = f"{schedule['hour']:02}:00 {schedule.get('timezone', 'UTC')}"
    return f"{schedule.get('content', 'digest')} {schedule['every']}{day} at {time}"


def message_details(style: Style, message: dict[str, Any]) -> list[str]:
    facts: list[tuple[str, Cell | object]] = [
        ("status", _cell(status(message))),
        ("about", message.get("title")),
        ("error", message.get("error_message")),
        ("message", message["message_id"]),
        ("subscription", message["subscription_id"]),
        ("retries", message["retry_count"]),
        ("created", f"{style.time(message['created_at'])} by {message['created_by']}"),
        ("first attempt", _time(style, message, "processing_started_at")),
        ("next attempt", _time(style, message, "next_attempt_at")),
        ("ended", _time(style, message, "processing_completed_at")),
        ("receiver's id", message.get("notification_id")),
        ("correlation id", message["correlation_id"]),
        ("sent again from", message.get("resent_from")),
        ("sent again as", message.get("resent_as")),
    ]
    payload = json.dumps(message.get("payload", {}), indent=2).split("\n")
    title = style.paint(printable(message["message_type"]), Tone.STRONG)
    return [title, *pairs(style, facts), "", "Payload", *(f"  {line}" for line in payload)]


def result_line(style: Style, message: dict[str, Any], name: str | None) -> str:
    """The outcome of one message, such as `completed  3b9c…` or `failed  3b9c…  The receiver returned 410`."""
    found = status(message)
    parts = [message["message_id"], name, message.get("error_message") or _pause(style, message)]
    return "  ".join([style.paint(found, _tone(found)), *(printable(each) for each in parts if each)])


def _pause(style: Style, message: dict[str, Any]) -> str | None:
    until = _time(style, message, "next_attempt_at")
    return f"the receiver failed before and is paused; next attempt at {until}" if until else None


def _time(style: Style, message: dict[str, Any], name: str) -> str | None:
    return style.time(message[name]) if name in message else None


def _cell(text: str) -> Cell:
    return Cell(text, _tone(text))


def _tone(text: str) -> Tone:
    return TONES.get(text, Tone.PENDING if text == RETRYING else Tone.PLAIN)
