"""Runs and jobs that are missing on GitHub. Stored for 4 days in runners, the reconciler's table.

One 404 proves nothing: a run may be seconds old, and access may be lost for a moment. So the first one is stored, and a
job is closed only if it is still missing later. Closed jobs are compared with GitHub again.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runledger.model import times
from runledger.platform.availability import reaching
from runledger.tables import schema
from runledger.tables.attributes import from_attributes, to_attributes
from runledger.tables.updates import update

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

ABSENCES = "absences"
KEPT_DAYS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Absence:
    """Of a job, or of a run if `job_id` is None. `closed_at` is when the job was closed because of it."""

    key: str
    installation_id: int
    repo_full_name: str
    first_at: str
    job_id: int | None = None
    closed_at: str | None = None


FIELDS = ("installation_id", "repo_full_name", "first_at", "job_id", "closed_at")


class Absences:
    def __init__(self, client: "DynamoDBClient", name: str) -> None:
        self._client = client
        self._name = name

    @reaching("runners")
    def all(self) -> dict[str, Absence]:
        """By key. Usually empty."""
        pages = self._client.get_paginator("query").paginate(
            TableName=self._name,
            KeyConditionExpression="PK = :absences",
            ExpressionAttributeValues={":absences": {"S": ABSENCES}},
        )
        items = [from_attributes(item) for page in pages for item in page["Items"]]
        return {item[schema.SORT]: _absence(item) for item in items}

    @reaching("runners")
    def note(
        self, key: str, *, installation_id: int, repo_full_name: str, at: str, job_id: int | None = None
    ) -> Absence:
        """Keeps the first time."""
        about = {"installation_id": installation_id, "repo_full_name": repo_full_name, "job_id": job_id}
        noted = update(
            self._client,
            self._name,
            _key(key),
            put={schema.EXPIRY: times.expiry(at, KEPT_DAYS)},
            fill=about | {"first_at": at},
            returning="ALL_NEW",
        )
        return _absence(noted)

    @reaching("runners")
    def close(self, key: str, *, at: str) -> None:
        update(self._client, self._name, _key(key), fill={"closed_at": at})

    @reaching("runners")
    def forget(self, keys: Iterable[str]) -> None:
        for key in keys:
            self._client.delete_item(TableName=self._name, Key=to_attributes(_key(key)))


def run_key(installation_id: int, run_id: int, run_attempt: int) -> str:
    return f"run {installation_id}#{run_id}#{run_attempt}"


def job_key(installation_id: int, job_id: int) -> str:
    return f"job {installation_id}#{job_id}"


def _absence(item: dict[str, object]) -> Absence:
    known = {name: item[name] for name in FIELDS if name in item}
    return Absence(key=str(item[schema.SORT]), **known)  # type: ignore[arg-type]


def _key(key: str) -> dict[str, str]:
    return {schema.PARTITION: ABSENCES, schema.SORT: key}
