"""Records changes that affect heads, from the streams of workflow_runs and deployments."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from runledger.model.dataclass import dataclass
from runledger.model.errors import UnavailableError
from runledger.platform import logs, stream_batches
from runledger.releases import environments, heads
from runledger.releases.recorder import HeadRecorder
from runledger.tables import schema, streams
from runledger.tables.streams import Item, Record


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseStream:
    """`tables` maps physical table names to names in the schema. `run_changed` is called for each changed run."""

    recorder: HeadRecorder
    tables: Mapping[str, str]
    discard: Callable[[Record], None]
    run_changed: Callable[[Item], None] = lambda _run: None

    def process(self, records: Sequence[Record]) -> dict[str, Any]:
        """The response for Lambda, which repeats the batch from the first failed record on.

        The records of a batch are recorded together, which saves writes. If a service is unavailable, the whole batch
        is repeated: recording is safe to repeat. After any other error, the records are processed one by one, to find
        the one that would fail each time.
        """
        try:
            self._record(records)
        except UnavailableError:
            return stream_batches.failed_at(records[0])
        except Exception:
            logs.logger.exception("batch failed: its records are processed one by one", extra={"number": len(records)})
            return stream_batches.each(
                records,
                lambda record: self._record([record]),
                discard=self.discard,
                may_succeed_later=lambda error: isinstance(error, UnavailableError),
            )
        return stream_batches.processed()

    def _record(self, records: Iterable[Record]) -> None:
        runs, deployments = list[Item](), list[Item]()
        for record in filter(streams.is_change, records):
            before, after = streams.images(record)
            match streams.table_of(record, self.tables):
                case schema.WORKFLOW_RUNS.name if heads.is_changed(before, after):
                    runs.append(after)
                case schema.DEPLOYMENTS.name if environments.is_changed(before, after):
                    deployments.append(after)
        self.recorder.record_runs(runs)
        self.recorder.record_deployments(deployments)
        for run in runs:
            self.run_changed(run)
