"""The `runners` table: the occurrences, the owner and the assignments of each machine."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, fields
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from runledger.model import times
from runledger.model.assignments import Assignment, MachineFacts, Occurrence, OccurrenceKind
from runledger.model.reports import REDELIVERY_DAYS
from runledger.model.runner import Runner, RunnerStatus
from runledger.model.suspicion import Cleared
from runledger.tables import schema
from runledger.tables.attributes import from_attributes
from runledger.tables.pages import Partition
from runledger.tables.table import Table
from runledger.tables.updates import ABSENT

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


SUSPICION = ("suspected_at", "suspected_reason")
CLEARING = ("suspicion_cleared_at", "suspicion_cleared_reason")
# A second installation may have claimed the machine since the pass read it.
NOT_CONTESTED = "attribute_not_exists(#contested_at)"
# It isn't a known runner and hasn't ended, or it is active and not suspected.
NOT_YET_SUSPECTED = (
    "((attribute_not_exists(#status) AND attribute_not_exists(#terminated_at)) OR "
    f"(#status = :active AND attribute_not_exists(#suspected_at))) AND {NOT_CONTESTED}"
)
SUSPECTED_FOR_ANOTHER = f"#status = :active AND #suspected_reason <> :suspected_reason AND {NOT_CONTESTED}"
UNCHANGED_SINCE_READ = "#version = :version_read"
CHANGED = {"version": 1}
# A confirmed machine stays active until EC2 or ECS reports its end, or a pass finds that it is gone.
ACTIVE_RETENTION_DAYS = 90
# Events of a machine that is not a known runner are kept for a claim or a launcher's event.
UNCLAIMED_RETENTION_DAYS = REDELIVERY_DAYS
FIELDS = tuple(each.name for each in fields(Runner))
LISTS = ("occurrences", "assignments", "claims")
PRICES = ("price_per_hour", "on_demand_price_per_hour")


class RunnersTable:
    def __init__(self, client: "DynamoDBClient", name: str, *, retention_days: int) -> None:
        self._table = Table(client, name, label="runners")
        self._retention_days = retention_days

    def get(self, runner_id: str) -> Runner | None:
        found = self._table.read(_key(runner_id))
        return _runner(found) if found else None

    def change(self, runner_id: str, *, at: str, change: Callable[[Runner], Runner]) -> Runner:
        """Reads, changes and saves the runner. Tries again if another process saved it in between."""
        while True:
            seen = self.get(runner_id)
            after = change(seen or Runner(runner_id=runner_id, created_at=at))
            if self.save(seen, after):
                return after

    def save(self, before: Runner | None, after: Runner) -> bool:
        """False if the stored runner changed since it was read. Without a change nothing is written.

        Compares items instead of runners, because the status of a machine that is not a known runner isn't stored.
        """
        was, becomes = self._item(before) if before else {}, self._item(after)
        if was == becomes:
            return True
        changed = self._table.update_if(
            _key(after.runner_id),
            put={name: value for name, value in becomes.items() if was.get(name) != value},
            remove=[name for name, value in becomes.items() if value is None and was.get(name) is not None],
            add=CHANGED,
            condition=UNCHANGED_SINCE_READ if before else ABSENT,
            given={"version_read": before.version} if before else {},
        )
        return changed is not None

    def in_status(self, status: RunnerStatus) -> Iterator[Runner]:
        """Oldest first. The index is eventually consistent."""
        for page in self._table.indexed(Partition(index=schema.RUNNERS_BY_STATUS, value=status)):
            yield from (runner for item in page if (runner := _runner(from_attributes(item))).status is status)

    def among(self, runner_ids: Iterable[str]) -> dict[str, Runner]:
        """By id. Machines that are not known runners are omitted."""
        found = self._table.by_key([(each, schema.ONLY) for each in runner_ids])
        return {key[0]: _runner(from_attributes(item)) for key, item in found.items() if "status" in item}

    def suspect(self, runner_id: str, *, at: str, reason: str, since: str | None = None, **new: Any) -> Runner | None:
        """Returns the runner if this call made it a suspect. None if it was one before, or is contested, cleaned or
        gone.

        So only one of several passes that find the same orphan counts it. If it was suspected for another reason, the
        reason changes, and the suspicion dates from `since`, or else from now.
        """
        new = {"runner_id": runner_id, "created_at": at, **new}
        # If it was not a known runner before, its item would expire after a few days.
        kept = self._expiry(at, days=max(ACTIVE_RETENTION_DAYS, self._retention_days))
        suspected = self._table.update_if(
            _key(runner_id),
            fill=new | {"status": RunnerStatus.ACTIVE, "suspected_at": at},
            put={"suspected_reason": reason, **kept},
            remove=CLEARING,
            add=CHANGED,
            condition=NOT_YET_SUSPECTED,
            given={"active": RunnerStatus.ACTIVE},
            names=("terminated_at", "contested_at"),
            returning="ALL_NEW",
        )
        if suspected is not None:
            return _runner(suspected)
        self._table.update_if(
            _key(runner_id),
            put={"suspected_at": since or at, "suspected_reason": reason},
            add=CHANGED,
            condition=SUSPECTED_FOR_ANOTHER,
            given={"active": RunnerStatus.ACTIVE},
            names=("status", "contested_at"),
        )
        return None

    def clear_suspicion(self, runner_id: str, *, suspected_at: str, at: str, found: Cleared) -> None:
        """Does nothing if another pass has added a newer suspicion."""
        self._table.update_if(
            _key(runner_id),
            put=cleared(at, found),
            remove=SUSPICION,
            add=CHANGED,
            condition="#suspected_at = :seen AND #status = :active",
            given={"seen": suspected_at, "active": RunnerStatus.ACTIVE},
            names=("status",),
        )

    def _item(self, runner: Runner) -> dict[str, Any]:
        """Omits the version, which each write increments. A machine that has only claims or events has no status."""
        item = {name: getattr(runner, name) for name in FIELDS if name != "version"}
        return item | {
            "status": runner.status if runner.is_known_runner else None,
            "occurrences": [_text(each) for each in runner.occurrences] or None,
            "assignments": [_plain(each) for each in runner.assignments] or None,
            "claims": [_plain(each) for each in runner.claims] or None,
            **self._expiry(runner.last_change_at, days=self._retention(runner)),
        }

    def _retention(self, runner: Runner) -> int:
        if not runner.is_known_runner and not runner.claims:
            return min(UNCLAIMED_RETENTION_DAYS, self._retention_days)
        stays = runner.terminated_at is None and runner.confirmed_at and runner.installation_id is not None
        return max(ACTIVE_RETENTION_DAYS, self._retention_days) if stays else self._retention_days

    def _expiry(self, at: str, *, days: int | None = None) -> dict[str, int]:
        return {schema.EXPIRY: times.expiry(at, days or self._retention_days)}


def cleared(at: str, found: Cleared) -> dict[str, str]:
    """Written together with the removal of the suspicion."""
    return {"suspicion_cleared_at": at, "suspicion_cleared_reason": found}


def _key(runner_id: str) -> dict[str, str]:
    return {schema.PARTITION: runner_id, schema.SORT: schema.ONLY}


def _runner(item: dict[str, Any]) -> Runner:
    plain = {name: item[name] for name in FIELDS if name in item and name not in LISTS}
    return Runner(
        **plain
        | {
            "status": RunnerStatus(item.get("status", RunnerStatus.ACTIVE)),
            "occurrences": tuple(_occurrence(each) for each in item.get("occurrences", ())),
            "assignments": tuple(_assignment(each) for each in item.get("assignments", ())),
            "claims": tuple(_assignment(each) for each in item.get("claims", ())),
        }
    )


def _text(occurrence: Occurrence) -> str:
    """`2025-01-15T10:07:00.000Z ended shutting-down`: a third of the size of a map."""
    return " ".join(filter(None, (occurrence.at, occurrence.kind, occurrence.reason)))


def _occurrence(text: str) -> Occurrence:
    at, kind, *reason = text.split(" ", 2)
    return Occurrence(at, OccurrenceKind(kind), *reason)


def _plain(assignment: Assignment) -> dict[str, Any]:
    """One map, without missing values."""
    values = asdict(assignment)
    values |= values.pop("machine")
    return {name: value for name, value in values.items() if value is not None}


def _assignment(values: dict[str, Any]) -> Assignment:
    machine = {each.name: values.pop(each.name, None) for each in fields(MachineFacts)}
    # Whole numbers are read as int: a price of $2 must be a Decimal.
    machine |= {name: Decimal(machine[name]) for name in PRICES if machine[name] is not None}
    return Assignment(**values, machine=MachineFacts(**machine))
