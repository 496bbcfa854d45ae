"""The runners table, for several functions. Not in `tables`, because intake loads that module."""

from functools import cache

from runledger.platform.clients import client
from runledger.tables.passes import PassesTable
from runledger.tables.runners import RunnersTable
from runledger.wiring.settings import TableSettings, open_table


@cache
def runners_table() -> RunnersTable:
    return open_table(RunnersTable, "RUNNERS")


@cache
def passes() -> PassesTable:
    return PassesTable(client("dynamodb"), TableSettings.of("RUNNERS").table)
