"""The lock of a cleanup, which is the runner's own status: active → cleaning → cleaned, or back to active.

    active ── lease ──▶ cleaning ── terminated ──▶ cleaned
      ▲                  │    ▲
      └──── in use ──────┘    └── taken over, after the lease has expired

Only the owner of a lease terminates a machine, so only one of several concurrent cleanups does.
"""

from typing import TYPE_CHECKING

from runledger.model import times
from runledger.model.runner import RunnerStatus
from runledger.model.suspicion import Cleared
from runledger.tables import schema
from runledger.tables.runners import CHANGED, SUSPICION, cleared
from runledger.tables.table import Table

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

LEASE_SECONDS = 300
LEASE = ("cleaning_owner", "cleaning_since")
# A job that starts on the runner clears the suspicion, and then no lease is granted.
STILL_SUSPECTED = "#status = :active AND #suspected_at = :suspected_at"
LEASE_EXPIRED = "#status = :cleaning AND #cleaning_since <= :expired"
# The SDK retries a write whose response was lost.
OWN_LEASE = "#status = :cleaning AND #cleaning_owner = :cleaning_owner AND #cleaning_since = :cleaning_since"


class CleanupLocks:
    def __init__(self, client: "DynamoDBClient", name: str) -> None:
        self._table = Table(client, name, label="runners")

    def acquire(self, runner_id: str, *, suspected_at: str | None, owner: str, at: str) -> bool:
        """False if it is no longer suspected, or another cleanup has the lease.

        `suspected_at` is None if only an expired lease can be taken over.
        """
        free = [LEASE_EXPIRED, OWN_LEASE]
        given = {"cleaning": RunnerStatus.CLEANING, "expired": lease_expired_before(at)}
        if suspected_at is not None:
            free.append(STILL_SUSPECTED)
            given |= {"active": RunnerStatus.ACTIVE, "suspected_at": suspected_at}
        claimed = self._table.update_if(
            _key(runner_id),
            put={"status": RunnerStatus.CLEANING, "cleaning_owner": owner, "cleaning_since": at},
            add=CHANGED,
            condition=" OR ".join(f"({each})" for each in free),
            names=() if suspected_at is None else ("suspected_at",),
            given=given,
        )
        return claimed is not None

    def release(self, runner_id: str, *, owner: str, at: str, found: Cleared | None) -> None:
        """Makes the runner active again. If `found` is None, it stays suspected, and the next pass cleans it up."""
        self._table.update_if(
            _key(runner_id),
            put={"status": RunnerStatus.ACTIVE, **(cleared(at, found) if found else {})},
            remove=(*LEASE, *(SUSPICION if found else ())),
            add=CHANGED,
            condition="#status = :cleaning AND #cleaning_owner = :owner",
            given={"cleaning": RunnerStatus.CLEANING, "owner": owner},
        )


def lease_expired_before(now: str) -> str:
    """Leases that started at this time or earlier have expired."""
    return times.earlier(now, seconds=LEASE_SECONDS)


def _key(runner_id: str) -> dict[str, str]:
    return {schema.PARTITION: runner_id, schema.SORT: schema.ONLY}
