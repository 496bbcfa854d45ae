"""Publications of packages. Only the function that handles them loads this."""

from functools import cache

from runledger.platform.clients import client
from runledger.platform.clock import SystemClock
from runledger.releases.publications import Publications
from runledger.tables.packages import PackagesTable
from runledger.wiring import release_lines
from runledger.wiring.settings import TableSettings


@cache
def publications() -> Publications:
    return Publications(
        packages=PackagesTable(client("dynamodb"), TableSettings.of("RELEASES").table),
        lines=release_lines.lines_table(),
        mode=release_lines.PublicationSettings.from_environment().rebuild_dependents,
        send=release_lines.queue().send,
        now=SystemClock().text,
    )
