"""Output style: colours, width, time zone and the current time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from enum import StrEnum

from runledger_cli.rendering.formatting import NOTHING, printable


class Tone(StrEnum):
    """The meaning of a colour; the value is its terminal code."""

    PLAIN = ""
    STRONG = "1"
    FAINT = "2"
    BAD = "31"
    GOOD = "32"
    PENDING = "33"
    ALARM = "1;35"
    BUSY = "36"


# Rendered lines hold a placeholder instead of an escape sequence, so the output can reject every escape character.
# The placeholders are Unicode noncharacters, which the API client removes from all server text.
_RESET = "\ufdd0"
_PLACEHOLDERS = {tone: chr(ord(_RESET) + 1 + at) for at, tone in enumerate(Tone)}
COLOUR_CODES = {
    ord(_RESET): "\x1b[0m",
    **{ord(placeholder): f"\x1b[{tone.value}m" for tone, placeholder in _PLACEHOLDERS.items()},
}

_STATUS_TONES = {
    **dict.fromkeys(("queued", "waiting", "scheduled", "pending", "requested"), Tone.PENDING),
    **dict.fromkeys(("in_progress", "running", "cleaning"), Tone.BUSY),
    **dict.fromkeys(("success", "active", "finished", "approved"), Tone.GOOD),
    **dict.fromkeys(("failure", "timed_out", "startup_failure", "failed", "rejected", "suspended"), Tone.BAD),
    **dict.fromkeys(("cancelled", "skipped", "neutral", "deleted"), Tone.FAINT),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    now: datetime
    colour: bool = False
    width: int | None = None  # None for unlimited
    zone: tzinfo | None = None  # None for local time

    def paint(self, text: str, tone: Tone) -> str:
        return f"{_PLACEHOLDERS[tone]}{text}{_RESET}" if self.colour and tone.value and text else text

    def time(self, instant: str | None, *, exact: bool = False) -> str:
        if instant is None:
            return NOTHING
        try:
            moment = datetime.fromisoformat(instant).astimezone(self.zone)
        except (ValueError, OverflowError):  # such as year 1 in a zone behind UTC
            return printable(instant)
        text = moment.replace(tzinfo=None).isoformat(sep=" ", timespec="milliseconds" if exact else "seconds")
        return f"{text}Z" if self.zone is UTC else text

    def seconds_since(self, instant: str) -> float:
        return max(0.0, (self.now - datetime.fromisoformat(instant)).total_seconds())


def tone_of(status: str | None) -> Tone:
    return _STATUS_TONES.get(status or "", Tone.PLAIN)
