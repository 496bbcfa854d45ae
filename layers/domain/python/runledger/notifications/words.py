"""Formats values as short text for people: names, durations, amounts. Pure."""

from decimal import Decimal, InvalidOperation

from runledger.model import times

CENT = Decimal("0.01")


def clean(text: str, *, longest: int) -> str:
    """One line, without control characters, invisible characters and lone surrogates."""
    line = " ".join("".join(each if each.isprintable() else " " for each in text[: 4 * longest]).split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def duration(seconds: object) -> str | None:
    """`2 d 3 h`, `5 min 20 s`: the two largest units. None if the value isn't a duration."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float | Decimal) or seconds < 0:
        return None
    left, parts = round(seconds), []
    for name, size in (("d", times.SECONDS_PER_DAY), ("h", times.SECONDS_PER_HOUR), ("min", 60), ("s", 1)):
        number, left = divmod(left, size)
        if number:
            parts.append(f"{number} {name}")
    return " ".join(parts[:2]) or "0 s"


def money(dollars: object) -> str | None:
    """In dollars with two decimals, or with as many as an amount under one cent needs."""
    if isinstance(dollars, bool) or not isinstance(dollars, int | float | Decimal | str):
        return None
    try:
        amount = Decimal(str(dollars))
    except InvalidOperation:
        return None
    if not amount.is_finite():
        return None
    if 0 < abs(amount) < CENT:
        return f"${amount:.2g}" if amount > 0 else f"-${-amount:.2g}"
    return f"${amount:,.2f}" if amount >= 0 else f"-${-amount:,.2f}"


def percent(share: object) -> str | None:
    is_number = isinstance(share, int | float | Decimal) and not isinstance(share, bool)
    return f"{round(float(share) * 100)} %" if is_number else None  # type: ignore[arg-type]


def joined(*parts: object) -> str:
    """Absent parts are omitted."""
    return ", ".join(str(part) for part in parts if part)


def named(name: str, value: object) -> str | None:
    return f"{name} {value}" if value not in (None, "") else None
