"""Releases: their table, and what their functions need. Only these functions and the API load this."""

from functools import cache

from runledger.wiring.settings import TableSettings


@cache
def table_settings() -> TableSettings:
    return TableSettings.of("RELEASES")
