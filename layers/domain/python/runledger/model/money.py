"""The cost of a machine, from its price per hour. Pure."""

from decimal import ROUND_HALF_UP, Decimal

from runledger.model import times

MINIMUM_BILLED_SECONDS = 60
MICRODOLLAR = Decimal("0.000001")


def dollars(seconds: int, per_hour: Decimal | None) -> Decimal | None:
    """EC2 bills by the second, with a minimum of one minute. None if the price is unknown."""
    if per_hour is None:
        return None
    billed = max(seconds, MINIMUM_BILLED_SECONDS) if seconds else 0
    exact = (per_hour * billed / times.SECONDS_PER_HOUR).quantize(MICRODOLLAR, ROUND_HALF_UP)
    # Plain digits, without 0E-6 or trailing zeros: DynamoDB would return another text for those.
    return Decimal(f"{exact.normalize():f}")


def saved(seconds: int, *, paid: Decimal | None, regular: Decimal | None) -> Decimal:
    """Never negative; 0 if either price is unknown."""
    actual, on_demand = dollars(seconds, paid), dollars(seconds, regular)
    return Decimal(0) if actual is None or on_demand is None else max(on_demand - actual, Decimal(0))
