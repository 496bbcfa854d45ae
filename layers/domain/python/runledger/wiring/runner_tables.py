"""The runners table, for several functions. Not in `tables`, because intake loads that module."""

from functools import cache

from runledger.platform.clients import client
from runledger.tables.passes import PassesTable
from runledger.tables.runners import RunnersTable
from runledger.wiring.settings import TableSettings


@cache
def runners_table() -> RunnersTable:
    settings = TableSettings.of("RUNNERS")
    return RunnersTable(client("dynamodb"), settings.table, retention_days=settings.retention_days)


@cache
def passes() -> PassesTable:
    return PassesTable(client("dynamodb"), TableSettings.of("RUNNERS").table)
