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
from runledger.platform.availability import reaching
from runledger.tables import schema
from runledger.tables.attributes import Attributes, from_attributes, is_condition_failure, to_attributes
from runledger.tables.reads import by_key, indexed
from runledger.tables.updates import update

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

ABSENT = "attribute_not_exists(PK)"
UNCHANGED_SINCE_READ = "version = :version_read"
FIELDS = {field.name for field in dataclasses.fields(Job)}
MONEY = tuple(field.name for field in dataclasses.fields(Job) if field.type == Decimal | None)


class JobsTable:
    def __init__(self, client: "DynamoDBClient", name: str, *, retention_days: int) -> None:
        self._client = client
        self._name = name
        self._retention_days = retention_days

    @reaching("workflow_jobs")
    def get(self, installation_id: int, job_id: int, *, consistent: bool = False) -> Job | None:
        response = self._client.get_item(
            TableName=self._name, Key=to_attributes(_key(installation_id, job_id)), ConsistentRead=consistent
        )
        return _job(response["Item"]) if "Item" in response else None

    @reaching("workflow_jobs")
    def save(self, before: Job | None, after: Job) -> None:
        """The commit point. LostRace if the job has changed since it was read.

        The SDK retries a write whose response was lost. Its condition then fails, because the job is already saved.
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

    def in_status(self, installation_id: int, status: Status, *, created_before: str) -> Iterator[Job]:
        """Oldest first."""
        partition = schema.status_key(installation_id, status)
        with reaching("workflow_jobs"):
            for page in indexed(self._client, self._name, schema.BY_STATUS, partition, before=created_before):
                yield from (job for item in page if (job := _job(item)).status is status)

    @reaching("workflow_jobs")
    def among(self, wanted: Iterable[tuple[int, int]]) -> dict[tuple[int, int], Job]:
        """By installation and job. Missing jobs are omitted."""
        keys = {(schema.job_key(*key), schema.ONLY): key for key in wanted}
        found = by_key(self._client, self._name, keys)
        return {keys[key]: _job(item) for key, item in found.items()}

    def _create(self, job: Job) -> None:
        self._client.put_item(
            TableName=self._name,
            Item=to_attributes(self._item(job)),
            ConditionExpression=ABSENT,
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        )

    def _update(self, before: Job, after: Job) -> None:
        """Writes only changed attributes: those of a newer version of Runledger are kept."""
        stored, new = self._item(before), self._item(after)
        update(
            self._client,
            self._name,
            _key(after.installation_id, after.job_id),
            put={name: value for name, value in new.items() if stored[name] != value},
            remove=[name for name, value in new.items() if value is None and stored[name] is not None],
            condition=UNCHANGED_SINCE_READ,
            given={"version_read": before.version},
        )

    def _item(self, job: Job) -> dict[str, Any]:
        scope = job.installation_id
        return {
            schema.PARTITION: schema.job_key(scope, job.job_id),
            schema.SORT: schema.ONLY,
            **vars(job),
            "webhooks": None,
            "inputs": _packed(job),
            schema.BY_STATUS.partition: schema.status_key(scope, job.status),
            schema.BY_REPO.partition: schema.repo_key(scope, job.repo_full_name) if job.repo_full_name else None,
            schema.BY_RUN.partition: _run_key(job),
            schema.EXPIRY: times.expiry(job.last_updated_at, self._retention_days),
        }


def _key(installation_id: int, job_id: int) -> dict[str, str]:
    return {schema.PARTITION: schema.job_key(installation_id, job_id), schema.SORT: schema.ONLY}


def _run_key(job: Job) -> str | None:
    if job.run_id is None or job.run_attempt is None:
        return None
    return schema.run_key(job.installation_id, job.run_id, job.run_attempt)


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
