"""Metrics and log lines for notifications."""

from collections.abc import Mapping
from typing import Any

from runledger.model import times
from runledger.notifications.routing import Routed
from runledger.platform import logs


def routed(found: Routed) -> None:
    if found.created or found.suppressed:
        metrics = {"NotificationsCreated": found.created, "NotificationsSuppressed": found.suppressed}
        logs.count("events routed", {}, metrics)


def completed(message: Mapping[str, Any], *, at: str) -> None:
    latency = times.ms_between(message["created_at"], at)
    logs.count("notification completed", _about(message), {"NotificationsCompleted": 1, "NotificationLatency": latency})


def failed(message: Mapping[str, Any], error: str) -> None:
    logs.count("notification failed", {"level": "ERROR", "error": error, **_about(message)}, {"NotificationsFailed": 1})


def retried(message: Mapping[str, Any], error: str, *, next_at: str) -> None:
    about = {"level": "WARNING", "error": error, "next_attempt_at": next_at, **_about(message)}
    logs.count("notification retried", about, {"NotificationsRetried": 1})


def swept(number: int, *, oldest_seconds: float) -> None:
    """`oldest_seconds` is the time since the most overdue message was due: 0 if none is overdue."""
    logs.count("messages swept", {"sent_again": number}, {"OldestNotification": oldest_seconds})


def _about(message: Mapping[str, Any]) -> dict[str, Any]:
    names = ("installation_id", "message_id", "subscription_id", "message_type", "retry_count")
    return {name: message[name] for name in names if name in message}
