"""What a machine cost, from its price per hour. Pure."""

from decimal import ROUND_HALF_UP, Decimal

from runledger.model import times

LEAST_BILLED_SECONDS = 60
MICRODOLLAR = Decimal("0.000001")


def dollars(seconds: int, per_hour: Decimal | None) -> Decimal | None:
    """EC2 bills by the second, for a minute at least; an unknown price stays unknown."""
    if per_hour is None:
        return None
    billed = max(seconds, LEAST_BILLED_SECONDS) if seconds else 0
    exact = (per_hour * billed / times.SECONDS_PER_HOUR).quantize(MICRODOLLAR, ROUND_HALF_UP)
    # Plain digits: neither 0E-6 nor trailing zeros, which DynamoDB would not give back.
    return Decimal(f"{exact.normalize():f}")


def saved(seconds: int, *, paid: Decimal | None, regular: Decimal | None) -> Decimal:
    """Nothing where either price is unknown, and never less than nothing."""
    actual, on_demand = dollars(seconds, paid), dollars(seconds, regular)
    return Decimal(0) if actual is None or on_demand is None else max(on_demand - actual, Decimal(0))
