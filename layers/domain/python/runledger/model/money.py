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
    return plain(exact.quantize(MICRODOLLAR, ROUND_HALF_UP))


def saved(seconds: int, *, paid: Decimal | None, regular: Decimal | None) -> Decimal | None:
    """Negative if spot was more expensive. None if either price is unknown."""
    actual, on_demand = dollars(seconds, paid), dollars(seconds, regular)
    return None if actual is None or on_demand is None else plain(on_demand - actual)


def plain(amount: Decimal) -> Decimal:
    """Removes the exponent and trailing zeros, as DynamoDB does: written and read amounts compare equal as text."""
    return Decimal(f"{amount.normalize():f}")
