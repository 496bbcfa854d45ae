"""runners: which machine works for which job, whose it is, and what happened to it. Inputs arrive in any order."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from runledger import times
from runledger.errors import NotYours
from runledger.machines import Runner, RunnerStatus
from runledger.ownership import Proof, owns
from runledger.tables import schema
from runledger.tables.attributes import from_attributes, reaching, to_attributes
from runledger.tables.reads import by_key, indexed
from runledger.tables.updates import NOTHING, advance, update_if

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


SUSPICION = ("suspected_at", "suspected_reason")
# Nothing is known of it, or it is active and was suspected for the same reason or not at all.
SUSPECTED_FOR_THIS = (
    "attribute_not_exists(PK) OR (#status = :active AND "
    "(attribute_not_exists(#suspected_at) OR #suspected_reason = :suspected_reason))"
)
CONTEST = ("contested_at", "contested_by")
UNOWNED_OR_MINE = (
    "attribute_not_exists(#installation_id) OR "
    "(#installation_id = :installation_id AND attribute_not_exists(#contested_at))"
)
OWNERSHIP = ("installation_id", "proven_by", "contested_at")
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

    def launched(
        self,
        runner_id: str,
        *,
        installation_id: int,
        job_id: int,
        at: str,
        proof: Proof = Proof.EVENT,
        repo_full_name: str | None = None,
        **about: Any,
    ) -> Runner:
        """For a job, as an allowed publisher reports: proof of ownership. NotYours if another owner is proven.

        Until a job reports that it runs there, the machine works for the job that it was launched for.
        """
        proven = {
            "installation_id": installation_id,
            "intended_job_id": job_id,
            "repo_full_name": repo_full_name,
            "proven_by": proof,
            **about,
            **self._expiry(at),
        }
        changed = self._change_if(
            runner_id,
            at,
            put=proven,
            fill={"job_id": job_id},
            remove=SUSPICION,
            condition=UNOWNED_OR_MINE,
            names=("contested_at",),
        )
        while changed is None:
            seen = self.get(runner_id)
            if seen is not None and not _gives_way(seen, proof, repo_full_name):
                if _is_contest(seen, proof):
                    self.contest(runner_id, seen=seen, by=installation_id, at=at)
                raise NotYours(f"runner {runner_id} belongs to another installation than {installation_id}")
            changed = self._change_if(
                runner_id,
                at,
                put=proven | {"job_id": job_id},
                remove=(*SUSPICION, *CONTEST, "taken_at", *_unless(repo_full_name, "repo_full_name")),
                **_owner_as(seen),
            )
        return changed

    def assign(
        self,
        runner_id: str,
        *,
        seen: Runner | None,
        installation_id: int,
        job_id: int,
        at: str,
        repo_full_name: str | None,
        owner_name: str | None = None,
        confirmed_at: str | None = None,
        **about: Any,
    ) -> Runner | None:
        """To a job that runs there. None if the owner has changed since the machine was `seen`."""
        mine = {
            "installation_id": installation_id,
            "job_id": job_id,
            "repo_full_name": repo_full_name,
            "taken_at": at,
            "owner_name": owner_name,
            **self._expiry(at),
        }
        proven_by = seen.proven_by if seen else None
        if owner_name and proven_by in (None, Proof.TAG):
            mine["proven_by"] = Proof.TAG
        resolved = CONTEST if owner_name and not proven_by else ()
        return self._change_if(
            runner_id,
            at,
            put=mine,
            fill=about | {"confirmed_at": confirmed_at},
            remove=(*SUSPICION, *resolved, *_unless(repo_full_name, "repo_full_name")),
            **_owner_as(seen),
        )

    def prove(self, runner_id: str, *, installation_id: int, owner_name: str | None, at: str) -> None:
        """By a tag that names the owner. A machine that has an owner keeps it."""
        proven = {"installation_id": installation_id, "owner_name": owner_name, "proven_by": Proof.TAG}
        self._change_if(runner_id, at, put=proven, **_owner_as(None))

    def contest(self, runner_id: str, *, seen: Runner, by: int, at: str) -> bool:
        """False if the owner has changed since the machine was `seen`."""
        contest = {"contested_at": at, "contested_by": by}
        return self._change_if(runner_id, at, put=contest, remove=SUSPICION, **_owner_as(seen)) is not None

    def noted(self, runner_id: str, *, at: str, **happened: Any) -> Runner:
        """Something happened to the machine. A note on a machine without an owner expires after the retention."""
        changed = self._change_if(runner_id, at, fill=happened)
        assert changed is not None  # there is no condition
        return changed

    def reported(self, runner_id: str, *, installation_id: int, at: str, **happened: Any) -> Runner:
        """As a launcher reports. NotYours if the machine has another owner, or two."""
        changed = self._change_if(
            runner_id,
            at,
            fill=happened,
            condition=UNOWNED_OR_MINE,
            given={"installation_id": installation_id},
            names=("installation_id", "contested_at"),
        )
        if changed is None:
            raise NotYours(f"runner {runner_id} belongs to another installation than {installation_id}")
        return changed

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
    def _change_if(
        self,
        runner_id: str,
        at: str,
        *,
        put: Mapping[str, Any] = NOTHING,
        fill: Mapping[str, Any] = NOTHING,
        remove: Iterable[str] = (),
        condition: str | None = None,
        given: Mapping[str, Any] = NOTHING,
        names: Iterable[str] = (),
    ) -> Runner | None:
        """None if the condition is refused."""
        born = {"runner_id": runner_id, "status": RunnerStatus.ACTIVE, "created_at": at, **self._expiry(at)}
        changed = update_if(
            self._client,
            self._name,
            _key(runner_id),
            put=put,
            fill={name: value for name, value in {**born, **fill}.items() if name not in put},
            remove=remove,
            condition=condition,
            given=given,
            names=names,
            returning="ALL_NEW",
        )
        return None if changed is None else _runner(changed)

    def _expiry(self, at: str) -> dict[str, int]:
        return {schema.EXPIRY: times.expiry(at, self._retention_days)}


def _key(runner_id: str) -> dict[str, str]:
    return {schema.PARTITION: runner_id, schema.SORT: schema.ONLY}


def _runner(item: dict[str, Any]) -> Runner:
    known = {name: item[name] for name in FIELDS if name in item}
    return Runner(**known | {"status": RunnerStatus(known["status"])})


def _unless(value: object, name: str) -> tuple[str, ...]:
    return () if value is not None else (name,)


def _owner_as(seen: Runner | None) -> dict[str, Any]:
    """The condition that the machine has the owner that was seen."""
    known = {name: value for name in OWNERSHIP if (value := getattr(seen, name, None)) is not None}
    parts = [f"#{name} = :seen_{name}" if name in known else f"attribute_not_exists(#{name})" for name in OWNERSHIP]
    return {
        "condition": " AND ".join(parts),
        "given": {f"seen_{name}": value for name, value in known.items()},
        "names": OWNERSHIP,
    }


def _gives_way(runner: Runner, proof: Proof, repo_full_name: str | None) -> bool:
    """A provisional owner does, and one that a tag names if the event is about the same account.

    To a publisher with a limited scope, nothing gives way: it may report about a machine that is not theirs.
    """
    if proof != Proof.EVENT:
        return False
    if runner.proven_by == Proof.SCOPED_EVENT:
        return True
    if runner.proven_by == Proof.TAG and runner.owner_name and not runner.contested_at:
        return owns(runner.owner_name, repo_full_name)
    return not runner.proven_by


def _is_contest(runner: Runner, proof: Proof) -> bool:
    """Two parties that may each be right: neither has more than a claim, or a report within its own scope."""
    weak = runner.proven_by in (None, Proof.SCOPED_EVENT)
    return proof is Proof.SCOPED_EVENT and weak and not runner.contested_at
