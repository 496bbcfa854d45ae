"""When a message is retried, and when a receiver is paused. Pure."""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any

from runledger.model import times

# 10 s, 30 s, 90 s, 4.5 min, 13.5 min, 40 min, 2 h, and then every 4 h: twelve retries in a day.
FIRST_RETRY_SECONDS, RETRY_FACTOR, LONGEST_RETRY_SECONDS = 10, 3, 4 * times.SECONDS_PER_HOUR
JITTER = 0.2
# After this many consecutive failures, a receiver is paused, and then gets one message as a probe.
FAILURES_UNTIL_PAUSE = 3
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 60, 30 * times.SECONDS_PER_MINUTE
LONGEST_RETRY_AFTER_SECONDS = times.SECONDS_PER_HOUR
# Messages that waited for a pause to end are spread over this time after it.
SPREAD_SECONDS = 30
# A receiver that takes longer is moved to the slow lane.
SLOW_MS = 2000
# Further successes are recorded only after this time, because each costs a write.
RECORD_SUCCESS_AFTER_MS = 10 * times.SECONDS_PER_MINUTE * times.MS_PER_SECOND

Dice = Callable[[], float]  # from 0 up to 1


class ReceiverState(StrEnum):
    """Whether a message may be sent to a receiver now."""

    OPEN = "open"
    PROBE = "probe"
    CLOSED = "closed"


def receiver_state(health: Mapping[str, Any], *, now: str) -> ReceiverState:
    paused_until = health.get("paused_until")
    if paused_until is None:
        return ReceiverState.OPEN
    return ReceiverState.CLOSED if paused_until > now else ReceiverState.PROBE


def retry_seconds(retry_count: int, *, retry_after: int | None, dice: Dice) -> float:
    """The wait after this many retries. `retry_after` is the wait that the receiver asked for."""
    exponential = min(FIRST_RETRY_SECONDS * float(RETRY_FACTOR) ** min(retry_count, 20), LONGEST_RETRY_SECONDS)
    jittered = exponential * (1 - JITTER + 2 * JITTER * dice())
    return max(jittered, _limited(retry_after))


def pause_seconds(failures: int, *, retry_after: int | None) -> float:
    """0 if the receiver needs no pause yet."""
    if failures < FAILURES_UNTIL_PAUSE:
        return _limited(retry_after)
    doubled = FIRST_PAUSE_SECONDS * 2.0 ** min(failures - FAILURES_UNTIL_PAUSE, 20)
    return max(min(doubled, LONGEST_PAUSE_SECONDS), _limited(retry_after))


def _limited(retry_after: int | None) -> int:
    return min(max(retry_after or 0, 0), LONGEST_RETRY_AFTER_SECONDS)


def is_news(health: Mapping[str, Any], *, is_slow: bool, at: str) -> bool:
    """Whether a success changes the stored health of the receiver."""
    if health.get("failures") or "paused_until" in health or health.get("is_slow", False) != is_slow:
        return True
    last = health.get("succeeded_at")
    return last is None or times.ms_between(last, at) > RECORD_SUCCESS_AFTER_MS
