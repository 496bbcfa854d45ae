"""Runs and jobs that are missing on GitHub. Stored for 4 days in runners, the reconciler's table.

One 404 proves nothing: a run may be seconds old, and access may be lost for a moment. So the first one is stored, and a
job is closed only if it is still missing later. Closed jobs are compared with GitHub again.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Self

from botocore.exceptions import ClientError

from runledger.model import times
from runledger.model.dataclass import dataclass
from runledger.model.job import Job
from runledger.model.keys import RunKey
from runledger.tables import schema
from runledger.tables.attributes import from_attributes, is_condition_failure
from runledger.tables.pages import Partition
from runledger.tables.table import Table

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

ABSENCES = "absences"
KEPT_DAYS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Absence:
    """A job that GitHub doesn't have, or a run if `job_id` is None.

    `closed_at` is when the job was closed because of it, `compared_at` when the closed job was last compared with
    GitHub.
    """

    key: str
    installation_id: int
    repo_full_name: str
    first_at: str
    job_id: int | None = None
    closed_at: str | None = None
    compared_at: str | None = None

    @classmethod
    def of_run(cls, run: RunKey, repo_full_name: str, *, at: str) -> Self:
        return cls(key=key_of_run(run), installation_id=run.installation_id, repo_full_name=repo_full_name, first_at=at)

    @classmethod
    def of_job(cls, job: Job, *, at: str) -> Self:
        return cls(
            key=key_of_job(job.installation_id, job.job_id),
            installation_id=job.installation_id,
            repo_full_name=job.repo_full_name or "",
            first_at=at,
            job_id=job.job_id,
        )


FIELDS = ("installation_id", "repo_full_name", "first_at", "job_id", "closed_at", "compared_at")
IS_CLOSED, NOT_CLOSED = "attribute_exists(#closed_at)", "attribute_not_exists(#closed_at)"


class Absences:
    def __init__(self, client: "DynamoDBClient", name: str) -> None:
        self._table = Table(client, name, label="runners")

    def all(self) -> dict[str, Absence]:
        """By key. Usually empty. Omits items from earlier releases, which have no `first_at`."""
        items = map(from_attributes, self._table.items(Partition(value=ABSENCES)))
        return {item[schema.SORT]: _absence(item) for item in items if "first_at" in item}

    def note(self, absence: Absence) -> Absence:
        """Returns the stored absence, which keeps its first time."""
        noted = self._table.update(
            _key(absence.key),
            put={schema.EXPIRY: times.expiry(absence.first_at, KEPT_DAYS)},
            fill={name: getattr(absence, name) for name in FIELDS},
            returning="ALL_NEW",
        )
        return _absence(noted)

    def close(self, absence: Absence, *, at: str) -> None:
        """Writes all attributes, because another pass may have deleted the item since it was read."""
        self.note(replace(absence, first_at=at, closed_at=at))

    def note_compared(self, key: str, *, at: str) -> None:
        self._table.update_if(_key(key), put={"compared_at": at}, names=("closed_at",), condition=IS_CLOSED)

    def forget_open(self, keys: Iterable[str]) -> None:
        """Keeps absences whose job another pass has closed since: those jobs must be compared again."""
        for key in keys:
            try:
                self._table.delete(
                    _key(key),
                    ConditionExpression=NOT_CLOSED,
                    ExpressionAttributeNames={"#closed_at": "closed_at"},
                )
            except ClientError as error:
                if not is_condition_failure(error):
                    raise

    def forget(self, key: str) -> None:
        self._table.delete(_key(key))


def key_of_run(run: RunKey) -> str:
    return f"run {schema.run_key(run)}"


def key_of_job(installation_id: int, job_id: int) -> str:
    return f"job {schema.job_key(installation_id, job_id)}"


def _absence(item: dict[str, object]) -> Absence:
    known = {name: item[name] for name in FIELDS if name in item}
    return Absence(key=str(item[schema.SORT]), **known)  # type: ignore[arg-type]


def _key(key: str) -> dict[str, str]:
    return {schema.PARTITION: ABSENCES, schema.SORT: key}
