"""Instants as text of fixed width (`2025-01-15T10:00:01.123Z`): text order is time order."""

from datetime import UTC, datetime, timedelta

MS_PER_SECOND = 1000
MS_PER_HOUR = 3_600_000
SECONDS_PER_MINUTE = 60
SECONDS_PER_HOUR = 3600
SECONDS_PER_DAY = 86_400
EXAMPLE = "2025-01-15T10:00:00Z"
BEFORE_ALL, NEVER = "", "9999"  # sort before and after every instant
_HOUR, _MINUTE = len("2025-01-15T10"), len("2025-01-15T10:00")


def from_epoch_ms(epoch_ms: int) -> str:
    return _text(datetime.fromtimestamp(epoch_ms / MS_PER_SECOND, UTC))


def normalised(text: str) -> str:
    """Converts an ISO 8601 instant to this format. ValueError if it isn't one."""
    moment = datetime.fromisoformat(text)
    try:
        return _text(moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC))
    except OverflowError as overflow:
        raise ValueError(f"{text} is out of range") from overflow


def earlier(instant: str, *, seconds: float) -> str:
    return _text(datetime.fromisoformat(instant) - timedelta(seconds=seconds))


def later(instant: str, *, seconds: float) -> str:
    return _text(datetime.fromisoformat(instant) + timedelta(seconds=seconds))


def minute_of(instant: str) -> str:
    return instant[:_MINUTE]


def hour_of(instant: str) -> str:
    return instant[:_HOUR]


def ms_between(earlier: str, later: str) -> int:
    return round((datetime.fromisoformat(later) - datetime.fromisoformat(earlier)).total_seconds() * MS_PER_SECOND)


def expiry(instant: str, days: int) -> int:
    """The epoch second after which DynamoDB may delete an item that last changed at `instant`."""
    return int(datetime.fromisoformat(instant).timestamp()) + days * SECONDS_PER_DAY


def _text(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"
