"""Who may have a run's failed jobs run again, which is asked once: a claim on the run's item, and what came of it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from runledger.reports import RerunCheck
from runledger.tables.attributes import from_attributes, reaching, to_attributes
from runledger.tables.runs import key_of
from runledger.tables.updates import update, update_if

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

NOT_RERUN = (
    "attribute_not_exists(rerun_result) AND "
    "(attribute_not_exists(#rerun_claimed_until) OR #rerun_claimed_until <= :now)"
)
NO_MORE_WERE_CUT_SHORT = "cut_short_job_ids = :seen"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rerun:
    claimed: bool
    result: str | None
    first_claimed_at: str
    cut_short_job_ids: frozenset[int]


class RerunClaims:
    def __init__(self, client: "DynamoDBClient", name: str) -> None:
        self._client = client
        self._name = name

    @reaching("workflow_runs")
    def claim(self, check: RerunCheck, *, at: str, until: str) -> Rerun:
        """The right to ask for a re-run, once for all, and for a short while."""
        claimed = update_if(
            self._client,
            self._name,
            _key(check),
            put={"rerun_claimed_until": until},
            fill={"rerun_claimed_at": at},
            condition=NOT_RERUN,
            given={"now": at},
            returning="ALL_NEW",
        )
        return _rerun(self._read(check) if claimed is None else claimed, claimed=claimed is not None)

    @reaching("workflow_runs")
    def release(self, check: RerunCheck, *, seen: Rerun) -> Rerun | None:
        """None if it is released; else what has become known meanwhile, for whoever came while it was claimed went."""
        released = update_if(
            self._client,
            self._name,
            _key(check),
            remove=["rerun_claimed_until"],
            condition=NO_MORE_WERE_CUT_SHORT,
            given={"seen": set(seen.cut_short_job_ids)},
        )
        return _rerun(self._read(check), claimed=True) if released is None else None

    @reaching("workflow_runs")
    def finish(self, check: RerunCheck, *, result: str) -> None:
        update(self._client, self._name, _key(check), put={"rerun_result": result})

    def _read(self, check: RerunCheck) -> dict[str, Any]:
        answer = self._client.get_item(TableName=self._name, Key=to_attributes(_key(check)), ConsistentRead=True)
        return from_attributes(answer.get("Item", {}))


def _key(check: RerunCheck) -> dict[str, str]:
    return key_of(check.installation_id, check.run_id, check.run_attempt)


def _rerun(run: dict[str, Any], *, claimed: bool) -> Rerun:
    return Rerun(
        claimed=claimed,
        result=run.get("rerun_result"),
        first_claimed_at=run.get("rerun_claimed_at", ""),
        cut_short_job_ids=frozenset(run.get("cut_short_job_ids", ())),
    )
