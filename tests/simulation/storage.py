"""What the engine holds: items by table and key, and the order in which they were written.

Items are never changed in place, so a snapshot copies references alone. The log of writes is a linked list: a snapshot
keeps its head, and a read that lags behind walks back a few entries.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from runledger.tables import schema

from tests.simulation.values import Item, Rejected, Value, Values

Key = tuple[str, str]
Items = dict[Key, Item]
LONGEST_PARTITION, LONGEST_SORT = 2048, 1024


@dataclass(frozen=True, slots=True)
class Write:
    table: str
    key: Key
    before: Item | None
    earlier: "Write | None"


@dataclass(frozen=True, slots=True)
class Snapshot:
    items: Mapping[str, Items]
    log: Write | None


class Storage:
    def __init__(self, tables: Iterable[schema.TableSchema]) -> None:
        self.tables = {table.name: table for table in tables}
        self._items: dict[str, Items] = {name: {} for name in self.tables}
        self._log: Write | None = None
        self._found: dict[str, dict[tuple[str, ...], Sequence[Item]]] = {name: {} for name in self.tables}

    def table(self, name: str) -> schema.TableSchema:
        try:
            return self.tables[name]
        except KeyError:
            raise Rejected("Requested resource not found", code="ResourceNotFoundException") from None

    def get(self, table: str, key: Key, *, lag: int = 0) -> Item | None:
        if not lag:
            return self._items[table].get(key)
        return self.seen(table, lag).get(key)

    def write(self, table: str, key: Key, item: Item | None) -> None:
        items = self._items[table]
        self._found[table].clear()
        before = items.get(key)
        self._log = Write(table, key, before, self._log)
        if item is not None:
            items[key] = item
        elif before is not None:
            del items[key]

    def seen(self, table: str, lag: int = 0) -> Items:
        """The table without the last `lag` writes to it."""
        if not lag:
            return self._items[table]
        items = dict(self._items[table])
        for write in self._writes_to(table, lag):
            if write.before is None:
                items.pop(write.key, None)
            else:
                items[write.key] = write.before
        return items

    def until_written(self, table: str, where: tuple[str, ...], find: Callable[[], Sequence[Item]]) -> Sequence[Item]:
        """Found once for all pages of a query: the table may hold thousands of items."""
        found = self._found[table]
        if where not in found:
            found[where] = find()
        return found[where]

    def _writes_to(self, table: str, at_most: int) -> Iterator[Write]:
        write = self._log
        while write and at_most:
            if write.table == table:
                yield write
                at_most -= 1
            write = write.earlier

    def snapshot(self) -> Snapshot:
        return Snapshot({name: dict(items) for name, items in self._items.items()}, self._log)

    def restore(self, snapshot: Snapshot) -> None:
        self._items = {name: dict(items) for name, items in snapshot.items.items()}
        self._log = snapshot.log
        for found in self._found.values():
            found.clear()


def key_of(values: Values) -> Key:
    """The key of an item, or of a key that must contain nothing else."""
    return (
        _part(values, schema.PARTITION, LONGEST_PARTITION),
        _part(values, schema.SORT, LONGEST_SORT),
    )


def _part(values: Values, name: str, longest: int) -> str:
    value = values.get(name)
    if value is None:
        raise Rejected(f"One or more parameter values were invalid: Missing the key {name} in the item")
    text = value.get("S")
    if not isinstance(text, str):
        raise Rejected(f"One or more parameter values were invalid: Type mismatch for key {name} expected: S")
    if not text:
        raise Rejected(f"One or more parameter values are not valid. Key {name} is an empty string value")
    if len(text.encode()) > longest:
        raise Rejected(f"One or more parameter values were invalid: Size of {name} has exceeded the limit of {longest}")
    return text


def key_values(key: Key) -> dict[str, Value]:
    return {schema.PARTITION: {"S": key[0]}, schema.SORT: {"S": key[1]}}


def check_index_keys(table: schema.TableSchema, item: Values) -> None:
    """An item without an index's keys is left out of the index; one with keys of another type is refused."""
    for index in table.indexes:
        for name in (index.partition, index.sort):
            value = item.get(name)
            if value is not None and not value.get("S"):
                raise Rejected(
                    f"One or more parameter values were invalid: Type mismatch for Index Key {name} "
                    f"Expected: S IndexName: {index.name}"
                )
