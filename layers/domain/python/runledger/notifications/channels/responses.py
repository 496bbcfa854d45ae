"""Converts the responses of HTTP receivers to results. Pure.

As Standard Webhooks recommends, only 2xx is a success, redirects aren't followed, 410 is final, and every other status
is retried. So a receiver that works again within a day gets the messages that it has missed.
"""

from collections.abc import Collection, Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus

from runledger.model import times
from runledger.notifications.channels.interface import SendResult

GONE = frozenset({HTTPStatus.GONE})
LONGEST_WAIT_SECONDS = times.SECONDS_PER_DAY
MOST_DIGITS = 9  # any longer number is more than a day


def is_success(status: int) -> bool:
    return HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES


def result(
    status: int,
    headers: Mapping[str, str],
    *,
    sent_at: str,
    refusals: Collection[int] = GONE,
    notification_id: str | None = None,
) -> SendResult:
    """`refusals` are the statuses that are final."""
    if is_success(status):
        return SendResult.accepted(notification_id)
    if status in refusals:
        return SendResult.refused(f"HTTP {status}{_phrase(status)}")
    if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
        return SendResult.try_later(f"HTTP {status}: redirects aren't followed; change the URL of the subscription")
    wait = retry_after(headers.get("retry-after"), sent_at=sent_at)
    return SendResult.try_later(f"HTTP {status}{_phrase(status)}", retry_after_seconds=wait)


def retry_after(value: str | None, *, sent_at: str) -> int | None:
    """Seconds, at most a day. The header has a number of seconds or a date; None if it is neither."""
    if value is None:
        return None
    if value.isascii() and value.isdigit():
        return min(int(value[:MOST_DIGITS]), LONGEST_WAIT_SECONDS)
    try:
        seconds = (parsedate_to_datetime(value) - datetime.fromisoformat(sent_at)).total_seconds()
    except (ValueError, TypeError, OverflowError):  # a date without a time zone can't be compared
        return None
    return max(0, min(round(seconds), LONGEST_WAIT_SECONDS))


def _phrase(status: int) -> str:
    """The standard phrase for the status, not the one that the receiver sent."""
    try:
        return f" {HTTPStatus(status).phrase}"
    except ValueError:
        return ""
