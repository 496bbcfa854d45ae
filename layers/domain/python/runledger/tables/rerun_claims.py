"""Claims and results of re-runs, on the run's item: a run's failed jobs are re-run once."""

from typing import TYPE_CHECKING, Any

from runledger.model.dataclass import dataclass
from runledger.model.follow_ups import RerunCheck
from runledger.model.runs import RerunResult
from runledger.tables.runs import key_of
from runledger.tables.table import Table

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

# The condition accepts the owner's own claim: the SDK retries a write whose response was lost.
NOT_RERUN = (
    "attribute_not_exists(rerun_result) AND "
    "(attribute_not_exists(#rerun_claimed_until) OR #rerun_claimed_until <= :now "
    "OR #rerun_claimed_by = :rerun_claimed_by)"
)
NO_MORE_INTERRUPTED = "#rerun_claimed_by = :owner AND cut_short_job_ids = :seen"
NONE_INTERRUPTED = "#rerun_claimed_by = :owner AND attribute_not_exists(cut_short_job_ids)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rerun:
    claimed: bool
    result: RerunResult | None
    first_claimed_at: str
    cut_short_job_ids: frozenset[int]
    failed_job_ids: frozenset[int]


class RerunClaims:
    def __init__(self, client: "DynamoDBClient", name: str) -> None:
        self._table = Table(client, name, label="workflow_runs")

    def claim(self, check: RerunCheck, *, owner: str, at: str, until: str) -> Rerun:
        """A short exclusive right to request a re-run."""
        claimed = self._table.update_if(
            _key(check),
            put={"rerun_claimed_until": until, "rerun_claimed_by": owner},
            fill={"rerun_claimed_at": at},
            condition=NOT_RERUN,
            given={"now": at},
            returning="ALL_NEW",
        )
        return _rerun(self._read(check) if claimed is None else claimed, claimed=claimed is not None)

    def release(self, check: RerunCheck, *, seen: Rerun, owner: str) -> Rerun | None:
        """None if the claim is released or has another owner. Otherwise more jobs were interrupted since `seen`."""
        released = self._table.update_if(
            _key(check),
            remove=["rerun_claimed_until", "rerun_claimed_by"],
            condition=NO_MORE_INTERRUPTED if seen.cut_short_job_ids else NONE_INTERRUPTED,
            given={"owner": owner} | ({"seen": set(seen.cut_short_job_ids)} if seen.cut_short_job_ids else {}),
        )
        if released is not None:
            return None
        run = self._read(check)
        return _rerun(run, claimed=True) if run.get("rerun_claimed_by") == owner else None

    def finish(self, check: RerunCheck, *, result: RerunResult) -> None:
        self._table.update(_key(check), put={"rerun_result": str(result)})

    def _read(self, check: RerunCheck) -> dict[str, Any]:
        return self._table.read(_key(check)) or {}


def _key(check: RerunCheck) -> dict[str, str]:
    return key_of(check.run_key)


def _rerun(run: dict[str, Any], *, claimed: bool) -> Rerun:
    return Rerun(
        claimed=claimed,
        result=RerunResult.parse(run["rerun_result"]) if "rerun_result" in run else None,
        first_claimed_at=run.get("rerun_claimed_at", ""),
        cut_short_job_ids=frozenset(run.get("cut_short_job_ids", ())),
        failed_job_ids=frozenset(run.get("failed_job_ids", ())),
    )
