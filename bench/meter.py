"""Counts AWS calls and consumed DynamoDB capacity with botocore event handlers."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bench.sizes import write_units

if TYPE_CHECKING:
    from collections.abc import Mapping

READS = {"GetItem", "BatchGetItem", "Query", "Scan"}
CONDITION_FAILED = "ConditionalCheckFailedException"


@dataclass(slots=True)
class Usage:
    """Units by table, or by `table.index`."""

    calls: Counter[str] = field(default_factory=Counter)
    writes: Counter[str] = field(default_factory=Counter)
    reads: Counter[str] = field(default_factory=Counter)
    items_read: int = 0
    log_bytes: int = 0

    def written(self, *tables: str) -> float:
        return _total(self.writes, tables)

    def read(self, *tables: str) -> float:
        return _total(self.reads, tables)

    @property
    def round_trips(self) -> int:
        return self.calls.total()


class Meter:
    def __init__(self, unmetered: Any) -> None:
        """`unmetered` is a client of the same engine whose calls aren't counted."""
        self.usage = Usage()
        self._unmetered = unmetered
        self._hooks = {
            "provide-client-params.dynamodb": self._request_units,
            "request-created": self._count,
            "after-call.dynamodb": self._add_units,
        }

    def attach(self, events: Any) -> None:
        for event, hook in self._hooks.items():
            events.register(event, hook)

    def detach(self, events: Any) -> None:
        for event, hook in self._hooks.items():
            events.unregister(event, hook)

    def reset(self) -> Usage:
        self.usage = Usage()
        return self.usage

    def _request_units(self, params: dict[str, Any], model: Any, context: dict[str, Any], **_: Any) -> dict[str, Any]:
        context["params"] = params
        if "ReturnConsumedCapacity" in model.input_shape.members:
            params["ReturnConsumedCapacity"] = "INDEXES"
        return params

    def _count(self, event_name: str, **_: Any) -> None:
        """Counts every HTTP request, including retries."""
        self.usage.calls[event_name.removeprefix("request-created.")] += 1

    def _add_units(self, parsed: dict[str, Any], model: Any, context: dict[str, Any], **_: Any) -> None:
        if parsed.get("Error", {}).get("Code") == CONDITION_FAILED:
            self._add_failed_write(context["params"])
        units = self.usage.reads if model.name in READS else self.usage.writes
        consumed = parsed.get("ConsumedCapacity", [])
        for table in consumed if isinstance(consumed, list) else [consumed]:
            _add(units, table)
        self.usage.items_read += _items_in(parsed)

    def _add_failed_write(self, params: Mapping[str, Any]) -> None:
        """A failed conditional write is billed like a write. DynamoDB Local doesn't report it, so it is computed."""
        key = params.get("Key") or {name: params["Item"][name] for name in ("PK", "SK")}
        stored = self._unmetered.get_item(TableName=params["TableName"], Key=key, ConsistentRead=True).get("Item", {})
        self.usage.writes[params["TableName"]] += max(write_units(stored), write_units(params.get("Item", {})))


def _add(units: Counter[str], consumed: Mapping[str, Any]) -> None:
    """Per index if reported. The API has its own meter, which requests only the total."""
    table = consumed["TableName"]
    if "Table" not in consumed and "GlobalSecondaryIndexes" not in consumed:
        units[table] += consumed["CapacityUnits"]
    units[table] += consumed.get("Table", {}).get("CapacityUnits", 0)
    for index, capacity in consumed.get("GlobalSecondaryIndexes", {}).items():
        units[f"{table}.{index}"] += capacity["CapacityUnits"]


def _items_in(parsed: Mapping[str, Any]) -> int:
    batches = sum(len(items) for items in parsed.get("Responses", {}).values())
    return batches + len(parsed.get("Items", [])) + ("Item" in parsed)


def _total(units: Counter[str], tables: tuple[str, ...]) -> float:
    return float(sum(count for name, count in units.items() if not tables or name.partition(".")[0] in tables))
