"""The lock of cleanup, which is the runner's own status: active → cleaning → cleaned, or back to active.

    active ── claim ──▶ cleaning ── it is gone ──▶ cleaned
      ▲                  │    ▲
      └── it is alive ───┘    └── claim again, after the lease of a dead process

Only the owner of a lease stops a machine, so it is stopped once.
"""

from typing import TYPE_CHECKING

from runledger.model import times
from runledger.model.runner import RunnerStatus
from runledger.platform.availability import reaching
from runledger.tables import schema
from runledger.tables.runners import CHANGED, SUSPICION
from runledger.tables.updates import update_if

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

LEASE_SECONDS = 300
LEASE = ("cleaning_owner", "cleaning_since")
# A job that got the runner in the meantime has removed the suspicion. Then the claim is too late.
STILL_SUSPECTED = "#status = :active AND #suspected_at = :suspected_at"
LEASE_RAN_OUT = "#status = :cleaning AND #cleaning_since <= :ran_out"
# The SDK repeats a write whose response was lost.
OWN_LEASE = "#status = :cleaning AND #cleaning_owner = :cleaning_owner AND #cleaning_since = :cleaning_since"


class CleanupLocks:
    def __init__(self, client: "DynamoDBClient", name: str) -> None:
        self._client = client
        self._name = name

    @reaching("runners")
    def claim(self, runner_id: str, *, suspected_at: str, owner: str, at: str) -> bool:
        """False if the runner is no longer suspected, or another process is cleaning it."""
        claimed = update_if(
            self._client,
            self._name,
            _key(runner_id),
            put={"status": RunnerStatus.CLEANING, "cleaning_owner": owner, "cleaning_since": at},
            add=CHANGED,
            condition=f"({STILL_SUSPECTED}) OR ({LEASE_RAN_OUT}) OR ({OWN_LEASE})",
            names=("suspected_at",),
            given={
                "active": RunnerStatus.ACTIVE,
                "cleaning": RunnerStatus.CLEANING,
                "suspected_at": suspected_at,
                "ran_out": ran_out_at(at),
            },
        )
        return claimed is not None

    @reaching("runners")
    def release(self, runner_id: str, *, owner: str, acquitted: bool) -> None:
        """`acquitted`: the machine is in use, and its suspicion is removed. Otherwise a later pass tries again."""
        update_if(
            self._client,
            self._name,
            _key(runner_id),
            put={"status": RunnerStatus.ACTIVE},
            remove=(*LEASE, *(SUSPICION if acquitted else ())),
            add=CHANGED,
            condition="#status = :cleaning AND #cleaning_owner = :owner",
            given={"cleaning": RunnerStatus.CLEANING, "owner": owner},
        )


def ran_out_at(now: str) -> str:
    """Leases that began then or earlier have ended by now."""
    return times.earlier(now, seconds=LEASE_SECONDS)


def _key(runner_id: str) -> dict[str, str]:
    return {schema.PARTITION: runner_id, schema.SORT: schema.ONLY}
