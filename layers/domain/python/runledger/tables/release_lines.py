"""releases: release lines, their dependents, and the open rebuilds of each repository.

The plan of a line is written once, then its dependents, then the line, then its pointer. So a line has all of its
dependents, and a retry after a crash continues with the same plan.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from runledger.model import times
from runledger.model.packages import AWAITING_RUN, LineKey, RebuildStatus
from runledger.tables import rate_limits, release_keys, schema
from runledger.tables.attributes import Attributes, from_attributes, to_attributes
from runledger.tables.pages import Key, Page, Partition, beginning_with
from runledger.tables.table import ItemKey, Table

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

PLAN = "plan"
# On GitHub, a run waits up to 30 days for an approval. An open rebuild must be kept longer than that.
OPEN_DAYS = 35
# The SDK repeats a write whose response was lost: the owner's own claim is accepted.
CLAIMABLE = "#status = :is_waiting OR (#status = :status AND #claimed_by = :claimed_by)"
SAME_OR_NO_RUN = "(attribute_not_exists(#run_id) OR #run_id = :run_id)"
NEWER_ATTEMPT = "(attribute_not_exists(#run_attempt) OR #run_attempt < :run_attempt)"
NO_OTHER_VERSION = (
    "attribute_exists(#status) "
    "AND (attribute_not_exists(#dependent_version) OR #dependent_version = :dependent_version)"
)
UNCHANGED = "#revision = :seen"


class LinesTable:
    def __init__(self, client: "DynamoDBClient", name: str, *, retention_days: int) -> None:
        self._table = Table(client, name, label="releases")
        self._retention_days = retention_days

    def put_plan(self, line: LineKey, plan: Mapping[str, Any], *, at: str) -> dict[str, Any]:
        """Returns the stored plan, which is the first one."""
        self._table.put_if_absent({**_in_line(line, PLAN), **plan, schema.EXPIRY: self._expiry(at)})
        return self._table.read(_in_line(line, PLAN)) or dict(plan)

    def plan(self, line: LineKey) -> dict[str, Any] | None:
        return self._table.read(_in_line(line, PLAN))

    def put_dependent(self, line: LineKey, dependent: Mapping[str, Any], *, at: str) -> None:
        """Does nothing if it exists."""
        self._table.put_if_absent(
            {**_dependent_key(line, dependent["name"]), **dependent, schema.EXPIRY: self._expiry(at)}
        )

    def put_line(self, line: LineKey, values: Mapping[str, Any], *, at: str) -> None:
        """Does nothing if it exists, except that its pointer is written again."""
        expiry = self._expiry(at)
        item = {**_in_line(line, schema.ONLY), **line._asdict(), **values, "revision": 1, schema.EXPIRY: expiry}
        self._table.put_if_absent(item)
        sort = release_keys.line_pointer_sort(values["published_at"], line.name, line.version)
        pointer = {schema.PARTITION: release_keys.lines_key(line.installation_id), schema.SORT: sort}
        self._table.put_if_absent({**pointer, "name": line.name, "version": line.version, schema.EXPIRY: expiry})

    def get(self, line: LineKey) -> dict[str, Any] | None:
        return self._table.read(_in_line(line, schema.ONLY))

    def page(self, installation_id: int, *, limit: int, start: Key | None = None) -> Page[Attributes]:
        """Lines, newest first. Their pointers are the keys of the page."""
        partition = Partition(value=release_keys.lines_key(installation_id))
        found = self._table.page(partition, limit=limit, start=start)
        lines = [LineKey(installation_id, item["name"]["S"], item["version"]["S"]) for item in found.items]
        keys = [(release_keys.line_key(*each), schema.ONLY) for each in lines]
        items = self._table.by_key(keys)
        return Page(items=[items[key] for key in keys if key in items], next_key=found.next_key)

    def dependents(self, line: LineKey) -> list[dict[str, Any]]:
        """In the order of their names."""
        partition, span = Partition(value=release_keys.line_key(*line)), beginning_with(release_keys.DEPENDENT)
        found: list[dict[str, Any]] = []
        start: Key | None = None
        while True:
            page = self._table.page(partition, span, newest_first=False, limit=100, start=start, consistent=True)
            found += map(from_attributes, page.items)
            start = page.next_key
            if start is None:
                return found

    def dependent(self, line: LineKey, name: str) -> dict[str, Any] | None:
        return self._table.read(_dependent_key(line, name))

    def save(self, line: LineKey, values: Mapping[str, Any], *, seen: int) -> bool:
        """False if another process has changed the line since revision `seen`."""
        saved = self._table.update_if(
            _in_line(line, schema.ONLY),
            put={**values, "revision": seen + 1},
            remove=[name for name, value in values.items() if value is None],
            condition=UNCHANGED,
            given={"seen": seen},
        )
        return saved is not None

    def claim(self, line: LineKey, name: str, *, owner: str, at: str, workflow_id: int | None) -> bool:
        """The right to call GitHub once. Only `release` gives the claim back."""
        put = {"status": RebuildStatus.DISPATCHING, "claimed_by": owner, "dispatched_at": at}
        claimed = self._table.update_if(
            _dependent_key(line, name),
            put=put | {"workflow_id": workflow_id},
            remove=["message"],
            condition=CLAIMABLE,
            given={"is_waiting": RebuildStatus.WAITING},
        )
        return claimed is not None

    def count_dispatch(self, installation_id: int, *, at: str, most: int) -> bool:
        """False, without counting it, if the installation has reached its limit for this hour."""
        partition, hour = release_keys.dispatches_key(installation_id), times.hour_of(at)
        return rate_limits.count(self._table, partition, "dispatches", period=hour, at=at, most=most)

    def release(self, line: LineKey, name: str, *, owner: str, message: str) -> bool:
        """Gives a claim back after a call that GitHub can't have executed."""
        return self.move(
            line,
            name,
            RebuildStatus.WAITING,
            sources=[RebuildStatus.DISPATCHING],
            owner=owner,
            put={"message": message},
            remove=["claimed_by", "dispatched_at"],
        )

    def move(
        self,
        line: LineKey,
        name: str,
        status: RebuildStatus,
        *,
        sources: Iterable[RebuildStatus],
        owner: str | None = None,
        put: Mapping[str, Any] | None = None,
        remove: Iterable[str] = (),
    ) -> bool:
        """False if the dependent has none of the statuses in `sources`, or another owner."""
        condition, given = _status_in(sources)
        names = [] if owner is None else ["claimed_by"]
        if owner is not None:
            condition += " AND #claimed_by = :owner"
            given["owner"] = owner
        moved = self._table.update_if(
            _dependent_key(line, name),
            put={**(put or {}), "status": status},
            remove=remove,
            condition=condition,
            names=names,
            given=given,
        )
        return moved is not None

    def confirm_run(self, line: LineKey, name: str, *, owner: str, run: Mapping[str, Any]) -> None:
        """Stores the run that GitHub named in its response, unless the rebuild already has a result."""
        self.move(
            line,
            name,
            RebuildStatus.DISPATCHED,
            sources=AWAITING_RUN,
            owner=owner,
            put=run,
            remove=["message"],
        )

    def assign_run(self, line: LineKey, name: str, *, run: Mapping[str, Any]) -> bool:
        """Stores a run that GitHub's response didn't name. False if the dependent has another run, or awaits none."""
        is_awaiting, given = _status_in(AWAITING_RUN)
        assigned = self._table.update_if(
            _dependent_key(line, name),
            put={**run, "status": RebuildStatus.DISPATCHED},
            remove=["message"],
            condition=f"{SAME_OR_NO_RUN} AND {is_awaiting}",
            given=given,
        )
        return assigned is not None

    def end_run(self, line: LineKey, name: str, status: RebuildStatus, *, run: Mapping[str, Any]) -> bool:
        """Stores the result of an attempt. The result of an earlier attempt changes nothing."""
        ended = self._table.update_if(
            _dependent_key(line, name),
            put={**run, "status": status},
            condition=f"#run_id = :run_id AND {NEWER_ATTEMPT}",
        )
        return ended is not None

    def join(self, line: LineKey, name: str, version: str) -> bool:
        """Stores the version that the rebuild published. False if it has another version, or the line has expired."""
        key, put = _dependent_key(line, name), {"dependent_version": version}
        return self._table.update_if(key, put=put, names=["status"], condition=NO_OTHER_VERSION) is not None

    def open_rebuild(self, line: LineKey, name: str, *, repo_full_name: str, at: str) -> None:
        """Runs and publications of the repository find the line by this item."""
        sort = release_keys.rebuild_sort(line.name, line.version, name)
        key = {schema.PARTITION: release_keys.rebuilds_key(line.installation_id, repo_full_name), schema.SORT: sort}
        entry = {"name": line.name, "version": line.version, "dependent": name, "opened_at": at}
        self._table.put(to_attributes({**key, **entry, schema.EXPIRY: times.expiry(at, OPEN_DAYS)}))

    def rebuilds(
        self, installation_id: int, repo_full_name: str, *, until: str = times.NEVER
    ) -> list[tuple[LineKey, str]]:
        """Lines and names of dependents that were opened by `until`, oldest first."""
        partition = Partition(value=release_keys.rebuilds_key(installation_id, repo_full_name))
        found = [from_attributes(item) for item in self._table.items(partition, consistent=True)]
        opened = [entry for entry in found if entry["opened_at"] <= until]
        opened.sort(key=lambda entry: (entry["opened_at"], entry["name"], entry["version"]))
        return [(LineKey(installation_id, each["name"], each["version"]), each["dependent"]) for each in opened]

    def _expiry(self, at: str) -> int:
        return times.expiry(at, self._retention_days)


def _status_in(sources: Iterable[RebuildStatus]) -> tuple[str, dict[str, Any]]:
    """A condition, and its values."""
    given: dict[str, Any] = {f"source{number}": source for number, source in enumerate(sources)}
    return f"#status IN ({', '.join(f':{each}' for each in given)})", given


def _in_line(line: LineKey, sort: str) -> ItemKey:
    return {schema.PARTITION: release_keys.line_key(*line), schema.SORT: sort}


def _dependent_key(line: LineKey, name: str) -> ItemKey:
    return _in_line(line, release_keys.line_dependent_sort(name))
