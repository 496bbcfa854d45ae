"""Release lines: their table, queue and settings. Only the release functions load this."""

from functools import cache

from runledger.model.dataclass import dataclass
from runledger.model.releases import RebuildMode
from runledger.platform.clients import lazy_client
from runledger.platform.clock import SystemClock
from runledger.releases.lines import Lines
from runledger.releases.queue import RebuildQueue
from runledger.tables.release_lines import LinesTable
from runledger.wiring.settings import Settings, open_table


@dataclass(frozen=True, slots=True, kw_only=True)
class RebuildSettings(Settings):
    rebuilds_queue: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicationSettings(Settings):
    rebuild_dependents: RebuildMode


@cache
def lines_table() -> LinesTable:
    return open_table(LinesTable, "RELEASES")


@cache
def queue() -> RebuildQueue:
    return RebuildQueue(sqs=lazy_client("sqs"), url=RebuildSettings.from_environment().rebuilds_queue)


@cache
def lines() -> Lines:
    return Lines(table=lines_table(), send=queue().send, now=SystemClock().text)
