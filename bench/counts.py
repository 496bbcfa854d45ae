"""Usage of each AWS service per job: the source of all figures in docs/cost.md and docs/scaling.md."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from runledger.tables import schema

from bench import capacity, lives
from bench.lives import LIVES, Life
from bench.sizes import item_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from bench.harness import Harness
    from bench.meter import Usage

DAYS_A_MONTH = 30
# DynamoDB adds this to every item and index entry when it bills storage.
OVERHEAD_BYTES = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    normal: Usage
    original: Usage
    lives: Mapping[str, Usage]
    job_bytes: int
    kept_byte_months: float
    webhooks: int
    scheduling_events: int

    @property
    def same_work(self) -> float:
        return self.normal.written(*capacity.SAME_WORK)


def count(harness: Harness) -> Counts:
    normal, life = capacity.life(harness, "normal"), Life()
    steps = lives.normal(life)
    before = _everything(harness)
    harness.measure(*steps)
    after = _everything(harness)
    functions = [function for function, _ in steps]
    return Counts(
        normal=normal,
        original=capacity.original_life(harness),
        lives={name: capacity.life(harness, name) for name in LIVES},
        job_bytes=round(capacity.job_bytes(harness, life)),
        kept_byte_months=after - before,
        webhooks=functions.count("webhook_intake"),
        scheduling_events=functions.count("scheduling_events"),
    )


def _everything(harness: Harness) -> float:
    """Bytes in all tables and indexes, multiplied by the months of retention."""
    return sum(
        _kept_bytes(table, harness.dynamodb.scan(TableName=table.name)["Items"]) * table.retention_days / DAYS_A_MONTH
        for table in schema.TABLES
    )


def _kept_bytes(table: schema.TableSchema, items: Iterable[Mapping[str, Any]]) -> int:
    return sum(
        item_bytes(item) + OVERHEAD_BYTES + sum(_entry_bytes(index, item) for index in table.indexes) for item in items
    )


def _entry_bytes(index: schema.Index, item: Mapping[str, Any]) -> int:
    if index.partition not in item:
        return 0
    projected = {schema.PARTITION, schema.SORT, index.partition, index.sort, *index.include}
    return item_bytes({name: item[name] for name in projected if name in item}) + OVERHEAD_BYTES
