"""Numbers as the dashboard shows them, formatted independently of it."""

from decimal import ROUND_HALF_UP, Decimal

NOTHING, MINUS = "\N{EN DASH}", "\N{MINUS SIGN}"
UNITS = ((86_400, "d"), (3600, "h"), (60, "m"), (1, "s"))


def duration(seconds: float | None) -> str:
    """The two largest units."""
    if seconds is None:
        return NOTHING
    if 0 < seconds < 1:
        return f"{_rounded(seconds * 1000)} ms"
    left, parts = _rounded(seconds), list[str]()
    for size, unit in UNITS:
        if parts or left >= size or unit == "s":
            parts.append(f"{left // size} {unit}")
            left %= size
    return " ".join(part for at, part in enumerate(parts[:2]) if at == 0 or not part.startswith("0 "))


def seconds(shown: str) -> int:
    """The duration that a text shows."""
    sizes = {unit: size for size, unit in UNITS}
    parts = shown.split()
    return sum(int(number) * sizes[unit] for number, unit in zip(parts[::2], parts[1::2], strict=True))


def dollars(amount: float | None) -> str:
    if amount is None:
        return NOTHING
    if amount == 0:
        return "$0"
    size = abs(amount)
    digits = "0.0001" if size < 0.1 else "0.01" if size < 1000 else "1"
    return f"{MINUS if amount < 0 else ''}${Decimal(repr(size)).quantize(Decimal(digits), ROUND_HALF_UP):,}"


def percent(share: float | None) -> str:
    if share is None:
        return NOTHING
    value = share * 100
    return f"{value:.1f} %" if 0 < value < 10 or 99 <= value < 100 else f"{_rounded(value)} %"


def jobs(number: int, one: str = "job") -> str:
    return f"{number:,} {one if number == 1 else f'{one}s'}"


def _rounded(value: float) -> int:
    return int(Decimal(repr(value)).quantize(Decimal(1), ROUND_HALF_UP))
