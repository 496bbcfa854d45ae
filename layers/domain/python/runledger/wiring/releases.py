"""Heads: their table, and the function that reads the streams. Only that function loads this."""

from collections.abc import Mapping
from functools import cache

from runledger.model.dataclass import dataclass
from runledger.platform.clients import lazy_client
from runledger.platform.discarded import DiscardedRecords
from runledger.releases.recorder import HeadRecorder
from runledger.releases.stream import ReleaseStream
from runledger.tables import schema
from runledger.tables.heads import HeadsTable
from runledger.wiring import release_lines
from runledger.wiring.settings import Settings, open_table


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseStreamSettings(Settings):
    """The tables whose streams are read, and the queue for records that can't be processed."""

    runs_table: str
    deployments_table: str
    release_stream_dead_letters: str


@cache
def heads() -> HeadsTable:
    return open_table(HeadsTable, "RELEASES")


@cache
def stream() -> ReleaseStream:
    settings = ReleaseStreamSettings.from_environment()
    return ReleaseStream(
        recorder=HeadRecorder(table=heads()),
        tables=_streamed_tables(settings),
        discard=DiscardedRecords(sqs=lazy_client("sqs"), url=settings.release_stream_dead_letters).send,
        run_changed=release_lines.lines().run_changed,
    )


def _streamed_tables(settings: ReleaseStreamSettings) -> Mapping[str, str]:
    """Maps physical table names to names in the schema."""
    return {
        settings.runs_table: schema.WORKFLOW_RUNS.name,
        settings.deployments_table: schema.DEPLOYMENTS.name,
    }
