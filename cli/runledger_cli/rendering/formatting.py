"""Formats durations, amounts and percentages, and makes text safe for a terminal."""

from __future__ import annotations

import unicodedata
from collections.abc import Container

NOTHING = "-"
ELLIPSIS = "…"
MINUTE, HOUR, DAY = 60, 3600, 86_400
UNITS = ((DAY, "d", HOUR, "h"), (HOUR, "h", MINUTE, "m"), (MINUTE, "m", 1, "s"))
SHORT = 10  # seconds; shorter durations are shown with tenths
CENT, DOLLAR = 0.01, 1
SHORT_COMMIT = 7


def duration(seconds: float | None) -> str:
    """At most two units."""
    if seconds is None:
        return NOTHING
    if seconds < 1:
        return f"{round(seconds * 1000)} ms"
    whole = round(seconds)
    for size, name, part, part_name in UNITS:
        if whole >= size:
            return f"{whole // size}{name} {whole % size // part:02}{part_name}"
    return f"{seconds:.1f} s" if seconds < SHORT else f"{whole} s"


def dollars(amount: float | str | None) -> str:
    """Two decimals from a dollar on, up to four below it, and up to six below a cent: most jobs cost less than that."""
    if amount is None:
        return NOTHING
    value = float(amount)
    sign, size = "-" if value < 0 else "", abs(value)
    if size == 0 or size >= DOLLAR:
        return f"{sign}${size:,.2f}"
    digits = f"{size:.4f}" if size >= CENT else f"{size:.6f}"
    return f"{sign}${digits[:4]}{digits[4:].rstrip('0')}"


def percent(share: float | None) -> str:
    return NOTHING if share is None else f"{share * 100:.1f} %"


def printable(value: object, *, keep: Container[int] = ()) -> str:
    """Replaces control characters, escape sequences and bidirectional overrides; `keep` lists code points to keep."""
    text = NOTHING if value is None else str(value)
    if text.isprintable():
        return text
    return "".join(each if ord(each) in keep else _printable(each) for each in text)


def _printable(character: str) -> str:
    if character.isprintable():
        return character
    return " " if character.isspace() else "\N{REPLACEMENT CHARACTER}"


def width(text: str) -> int:
    """The number of terminal columns; emoji take two."""
    return sum(_columns(each) for each in text)


def shorten(text: str, most: int) -> str:
    if width(text) <= most:
        return text
    kept, used = "", 0
    for each in text:
        used += _columns(each)
        if used >= most:
            break
        kept += each
    return kept.rstrip() + ELLIPSIS


def _columns(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def commit(sha: str | None) -> str | None:
    """Shortened as git does it."""
    return None if sha is None else str(sha)[:SHORT_COMMIT]
