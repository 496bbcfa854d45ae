"""The cost of a machine, from its price per hour. Pure."""

from decimal import ROUND_HALF_UP, Decimal

from runledger.model import times

MINIMUM_BILLED_SECONDS = 60
MICRODOLLAR = Decimal("0.000001")


def dollars(seconds: int, per_hour: Decimal | None) -> Decimal | None:
    """EC2 bills by the second, with a minimum of one minute. None if the price is unknown."""
    if per_hour is None:
        return None
    exact = per_hour * max(seconds, MINIMUM_BILLED_SECONDS) / times.SECONDS_PER_HOUR
    return _plain(exact.quantize(MICRODOLLAR, ROUND_HALF_UP))


def saved(seconds: int, *, paid: Decimal | None, regular: Decimal | None) -> Decimal | None:
    """Negative if spot was more expensive. None if either price is unknown."""
    actual, on_demand = dollars(seconds, paid), dollars(seconds, regular)
    return None if actual is None or on_demand is None else _plain(on_demand - actual)


def _plain(amount: Decimal) -> Decimal:
    """Without 0E-6 or trailing zeros: DynamoDB would return another text for those."""
    return Decimal(f"{amount.normalize():f}")
