"""Records changes that affect heads, from the streams of workflow_runs and deployments."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from runledger.model.errors import UnavailableError
from runledger.platform import logs
from runledger.releases import environments, heads
from runledger.releases.recorder import HeadRecorder
from runledger.tables import schema, streams
from runledger.tables.streams import Item, Record


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseStream:
    """`tables` maps physical names to those of the schema. `run_changed` takes each new or changed run."""

    recorder: HeadRecorder
    tables: Mapping[str, str]
    discard: Callable[[Record], None]
    run_changed: Callable[[Item], None] = lambda _run: None

    def process(self, records: Sequence[Record]) -> dict[str, Any]:
        """The response for Lambda, which repeats the batch from the first failed record on.

        If a service is unavailable, the whole batch is repeated: recording is safe to repeat. A record that fails for
        another reason would fail each time, so it is discarded, and the others go on.
        """
        try:
            self._record(records)
        except UnavailableError:
            return _repeat_from(records[0])
        except Exception:
            logs.logger.exception("batch failed; its records are tried one by one", extra={"number": len(records)})
            return self._one_by_one(records)
        return {"batchItemFailures": []}

    def _one_by_one(self, records: Iterable[Record]) -> dict[str, Any]:
        for record in records:
            try:
                self._record_or_discard(record)
            except UnavailableError:
                return _repeat_from(record)
        return {"batchItemFailures": []}

    def _record_or_discard(self, record: Record) -> None:
        try:
            self._record([record])
        except UnavailableError:
            raise
        except Exception:
            logs.logger.exception("stream record failed", extra={"record": record.get("eventID")})
            self.discard(record)
            logs.messages_failed(1)

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


def _repeat_from(record: Record) -> dict[str, Any]:
    logs.logger.exception("heads not recorded", extra={"record": record.get("eventID")})
    logs.messages_failed(1)
    return {"batchItemFailures": [{"itemIdentifier": record["dynamodb"]["SequenceNumber"]}]}
