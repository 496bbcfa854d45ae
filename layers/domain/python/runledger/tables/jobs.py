"""workflow_jobs: the current state of jobs."""

import dataclasses
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from runledger.model import times
from runledger.model.errors import LostRace
from runledger.model.inputs import INPUT_TOKEN_LENGTH, WEBHOOK_TOKEN_LENGTH, Status
from runledger.model.job import Job
from runledger.tables import schema
from runledger.tables.attributes import Attributes, from_attributes, is_condition_failure, to_attributes
from runledger.tables.pages import Partition
from runledger.tables.table import Table
from runledger.tables.updates import ABSENT

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

UNCHANGED_SINCE_READ = "version = :version_read"
FIELDS = {field.name for field in dataclasses.fields(Job)}
MONEY = tuple(field.name for field in dataclasses.fields(Job) if field.type == Decimal | None)


class JobsTable:
    def __init__(self, client: "DynamoDBClient", name: str, *, retention_days: int) -> None:
        self._table = Table(client, name, label="workflow_jobs")
        self._retention_days = retention_days

    def get(self, installation_id: int, job_id: int, *, consistent: bool = False) -> Job | None:
        item = self._table.get(_key(installation_id, job_id), consistent=consistent)
        return _job(item) if item else None

    def save(self, before: Job | None, after: Job) -> bool:
        """The commit point. LostRace if the job has changed since it was read.

        False if the job was already saved. The SDK retries a write whose response was lost, and its condition then
        fails. The same happens if another process has recorded the same input at the same time.
        """
        try:
            if before is None:
                self._create(after)
            else:
                self._update(before, after)
        except ClientError as error:
            if not is_condition_failure(error):
                raise
            current: Attributes | None = error.response.get("Item")  # type: ignore[assignment]
            job = _job(current) if current else None
            if job != after:
                raise LostRace(job) from error
            return False
        return True

    def in_status(self, installation_id: int, status: Status, *, created_before: str) -> Iterator[Job]:
        """Oldest first."""
        partition = Partition(index=schema.BY_STATUS, value=schema.status_key(installation_id, status))
        for page in self._table.indexed(partition, before=created_before):
            yield from (job for item in page if (job := _job(item)).status is status)

    def among(self, wanted: Iterable[tuple[int, int]]) -> dict[tuple[int, int], Job]:
        """By installation and job. Missing jobs are omitted."""
        keys = {(schema.job_key(*key), schema.ONLY): key for key in wanted}
        found = self._table.by_key(keys)
        return {keys[key]: _job(item) for key, item in found.items()}

    def _create(self, job: Job) -> None:
        self._table.put(
            to_attributes(self._item(job)),
            ConditionExpression=ABSENT,
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        )

    def _update(self, before: Job, after: Job) -> None:
        """Writes only changed attributes, so attributes from a newer version of Runledger are kept."""
        stored, new = self._item(before), self._item(after)
        self._table.update(
            _key(after.installation_id, after.job_id),
            put={name: value for name, value in new.items() if stored[name] != value},
            remove=[name for name, value in new.items() if value is None and stored[name] is not None],
            condition=UNCHANGED_SINCE_READ,
            given={"version_read": before.version},
        )

    def _item(self, job: Job) -> dict[str, Any]:
        installation_id = job.installation_id
        return {
            schema.PARTITION: schema.job_key(installation_id, job.job_id),
            schema.SORT: schema.ONLY,
            **vars(job),
            "webhooks": None,
            "inputs": _packed(job),
            schema.BY_STATUS.partition: schema.status_key(installation_id, job.status),
            schema.BY_REPO.partition: schema.repo_key(installation_id, job.repo_full_name)
            if job.repo_full_name
            else None,
            schema.BY_RUN.partition: schema.run_key(run) if (run := job.run_key) else None,
            schema.BY_COMPLETION.partition: _completion_key(job),
            schema.EXPIRY: times.expiry(job.last_updated_at, self._retention_days),
        }


def _key(installation_id: int, job_id: int) -> dict[str, str]:
    return {schema.PARTITION: schema.job_key(installation_id, job_id), schema.SORT: schema.ONLY}


def _completion_key(job: Job) -> str | None:
    is_listed = job.status is Status.COMPLETED and job.completed_at and not job.carried_over
    return schema.completion_key(job.installation_id) if is_listed else None


def _job(attributes: Attributes) -> Job:
    values = from_attributes({name: value for name, value in attributes.items() if name in FIELDS})
    values["status"] = Status(values["status"])
    if "labels" in values:
        values["labels"] = tuple(values["labels"])
    # An integer attribute is read as an int: a price of $2 must be a Decimal.
    values |= {name: Decimal(values[name]) for name in MONEY if name in values}
    return Job(**values | _unpacked(bytes(values.get("inputs") or b"\0")))


def _packed(job: Job) -> bytes:
    """The number of webhook tokens, these tokens, then the tokens of internal inputs.

    Half the size of text, and one attribute instead of two: each kilobyte of an item costs a write unit.
    """
    return bytes([len(job.webhooks)]) + bytes.fromhex("".join(job.webhooks + job.inputs))


def _unpacked(packed: bytes) -> dict[str, tuple[str, ...]]:
    tokens = packed[1:].hex()
    end = packed[0] * WEBHOOK_TOKEN_LENGTH
    return {
        "webhooks": _split(tokens[:end], WEBHOOK_TOKEN_LENGTH),
        "inputs": _split(tokens[end:], INPUT_TOKEN_LENGTH),
    }


def _split(tokens: str, length: int) -> tuple[str, ...]:
    return tuple(tokens[start : start + length] for start in range(0, len(tokens), length))
