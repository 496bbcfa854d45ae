"""runners: who works on what, and what happened to whom. It is written by whoever knows something, in any order."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from runledger import times
from runledger.tables import schema
from runledger.tables.attributes import from_attributes, reaching, to_attributes
from runledger.tables.reads import by_key, indexed
from runledger.tables.updates import advance, update, update_if

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


class RunnerStatus(StrEnum):
    """In order of precedence."""

    ACTIVE = "active"
    CLEANING = "cleaning"
    CLEANED = "cleaned"


@dataclass(frozen=True, slots=True, kw_only=True)
class Runner:
    """`job_id` works on it; `intended_job_id` is whom it was launched for. Without either, it may not be ours."""

    runner_id: str
    status: RunnerStatus
    created_at: str
    kind: str | None = None
    installation_id: int | None = None
    job_id: int | None = None
    intended_job_id: int | None = None
    repo_full_name: str | None = None
    pool_name: str | None = None
    taken_at: str | None = None
    attached_at: str | None = None
    rebalance_recommended_at: str | None = None
    interrupted_at: str | None = None
    terminated_at: str | None = None
    terminated_reason: str | None = None
    suspected_at: str | None = None
    suspected_reason: str | None = None
    cleaning_owner: str | None = None
    cleaning_since: str | None = None


SUSPICION = ("suspected_at", "suspected_reason")
# Nothing is known of it, or it is active and was suspected for the same reason or not at all.
SUSPECTED_FOR_THIS = (
    "attribute_not_exists(PK) OR (#status = :active AND "
    "(attribute_not_exists(#suspected_at) OR #suspected_reason = :suspected_reason))"
)
FIELDS = tuple(each.name for each in fields(Runner))


class RunnersTable:
    def __init__(self, client: "DynamoDBClient", name: str, *, retention_days: int) -> None:
        self._client = client
        self._name = name
        self._retention_days = retention_days

    @reaching("runners")
    def get(self, runner_id: str) -> Runner | None:
        answer = self._client.get_item(TableName=self._name, Key=to_attributes(_key(runner_id)), ConsistentRead=True)
        return _runner(from_attributes(answer["Item"])) if "Item" in answer else None

    def launched(self, runner_id: str, *, installation_id: int, job_id: int, at: str, **about: Any) -> Runner:
        """For a job, by whoever launches: until a job says that it runs there, this is the one."""
        return self._change(
            runner_id,
            at,
            put={"installation_id": installation_id, "intended_job_id": job_id, **about, **self._expiry(at)},
            fill={"job_id": job_id},
            remove=SUSPICION,
        )

    def taken(self, runner_id: str, *, installation_id: int, job_id: int, at: str, **about: Any) -> Runner:
        """By a job that runs there, whomever it was launched for."""
        mine = {"installation_id": installation_id, "job_id": job_id, "taken_at": at, **self._expiry(at)}
        return self._change(runner_id, at, put=mine, fill=about, remove=SUSPICION)

    def noted(self, runner_id: str, *, at: str, **happened: Any) -> Runner:
        """Something happened to it; if it is nobody's, the note goes after the retention, as a cleaned runner does."""
        return self._change(runner_id, at, fill=happened)

    @reaching("runners")
    def cleaned(self, runner_id: str, *, at: str, **happened: Any) -> Runner:
        changes: dict[str, Any] = {
            "put": self._expiry(at),
            "fill": {"runner_id": runner_id, "created_at": at, "cleaned_at": at, **happened},
            "returning": "ALL_NEW",
        }
        changed = advance(self._client, self._name, _key(runner_id), RunnerStatus.CLEANED, **changes)
        assert changed is not None  # nothing is further than cleaned
        return _runner(changed)

    def in_status(self, status: RunnerStatus) -> Iterator[Runner]:
        """Oldest first; the index may be behind."""
        with reaching("runners"):
            for page in indexed(self._client, self._name, schema.RUNNERS_BY_STATUS, status):
                yield from (runner for item in page if (runner := _runner(from_attributes(item))).status is status)

    @reaching("runners")
    def among(self, runner_ids: Iterable[str]) -> dict[str, Runner]:
        """By id; who is not there is left out."""
        found = by_key(self._client, self._name, [(each, schema.ONLY) for each in runner_ids])
        return {key[0]: _runner(from_attributes(item)) for key, item in found.items()}

    @reaching("runners")
    def suspect(self, runner_id: str, *, at: str, reason: str, **born: Any) -> Runner | None:
        """None if it is being cleaned, or gone. The first suspicion counts, unless its reason was another one."""
        born = {"runner_id": runner_id, "created_at": at, **born, **self._expiry(at)}
        same = update_if(
            self._client,
            self._name,
            _key(runner_id),
            fill=born | {"status": RunnerStatus.ACTIVE, "suspected_at": at},
            put={"suspected_reason": reason},
            condition=SUSPECTED_FOR_THIS,
            given={"active": RunnerStatus.ACTIVE},
            returning="ALL_NEW",
        )
        if same is not None:
            return _runner(same)
        changed = update_if(
            self._client,
            self._name,
            _key(runner_id),
            put={"suspected_at": at, "suspected_reason": reason},
            condition="#status = :active",
            given={"active": RunnerStatus.ACTIVE},
            names=("status",),
            returning="ALL_NEW",
        )
        return _runner(changed) if changed is not None else None

    @reaching("runners")
    def acquit(self, runner_id: str, *, suspected_at: str) -> None:
        """Of that suspicion only: a newer one is somebody else's."""
        update_if(
            self._client,
            self._name,
            _key(runner_id),
            remove=SUSPICION,
            condition="#suspected_at = :seen AND #status = :active",
            given={"seen": suspected_at, "active": RunnerStatus.ACTIVE},
            names=("status",),
        )

    @reaching("runners")
    def _change(
        self,
        runner_id: str,
        at: str,
        *,
        put: dict[str, Any] | None = None,
        fill: dict[str, Any] | None = None,
        remove: Iterable[str] = (),
    ) -> Runner:
        put, fill = put or {}, fill or {}
        born = {"runner_id": runner_id, "status": RunnerStatus.ACTIVE, "created_at": at, **self._expiry(at)}
        fill = {name: value for name, value in (born | fill).items() if name not in put}
        changed = update(
            self._client, self._name, _key(runner_id), put=put, fill=fill, remove=remove, returning="ALL_NEW"
        )
        return _runner(changed)

    def _expiry(self, at: str) -> dict[str, int]:
        return {schema.EXPIRY: times.expiry(at, self._retention_days)}


def _key(runner_id: str) -> dict[str, str]:
    return {schema.PARTITION: runner_id, schema.SORT: schema.ONLY}


def _runner(item: dict[str, Any]) -> Runner:
    known = {name: item[name] for name in FIELDS if name in item}
    return Runner(**known | {"status": RunnerStatus(known["status"])})
