"""Counts with a limit per minute or hour: an item for each period, and one conditional write for each count."""

from runledger.model import times
from runledger.tables import schema
from runledger.tables.table import Table


def count(
    table: Table, partition: str, name: str, *, period: str, at: str, most: int, number: int = 1, kept_days: int = 1
) -> bool:
    """False, without counting, if the attribute `name` has reached the limit in this period.

    The last count may exceed the limit if `number` is above 1.
    """
    counted = table.update_if(
        {schema.PARTITION: partition, schema.SORT: period},
        add={name: number},
        fill={schema.EXPIRY: times.expiry(at, kept_days)},
        condition=f"attribute_not_exists(#{name}) OR #{name} < :most",
        given={"most": most},
    )
    return counted is not None
