"""Utilisation and cost of each pool of runners. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from runledger.model.inputs import Status
from runledger.model.job import SPOT
from runledger.model.runner import Runner


@dataclass(slots=True, kw_only=True)
class _Pool:
    instance_types: set[str] = field(default_factory=set)
    jobs: int = 0
    on_spot: int = 0
    on_demand: int = 0
    seconds: int = 0
    dollars: Decimal = Decimal(0)
    runner_ids: set[str] = field(default_factory=set)
    busy_ids: set[str] = field(default_factory=set)


def utilisation(jobs: Iterable[Mapping[str, Any]], runners: Iterable[Runner]) -> list[dict[str, Any]]:
    """Sorted by name. A busy runner counts as active even if only its job is recorded."""
    pools: dict[str, _Pool] = {}
    for runner in runners:
        if runner.pool_name:
            pools.setdefault(runner.pool_name, _Pool()).runner_ids.add(runner.runner_id)
    for job in jobs:
        if "pool_name" in job:
            _add(pools.setdefault(job["pool_name"], _Pool()), job)
    return [_to_json(name, pool) for name, pool in sorted(pools.items())]


def _add(pool: _Pool, job: Mapping[str, Any]) -> None:
    pool.jobs += 1
    pool.on_spot += job.get("instance_lifecycle") == SPOT
    pool.on_demand += job.get("instance_lifecycle") not in (None, SPOT)
    pool.seconds += job.get("usage_in_seconds", 0)
    pool.dollars += job.get("usage_in_dollars", 0)
    if "instance_type" in job:
        pool.instance_types.add(job["instance_type"])
    if job["status"] == Status.IN_PROGRESS and "instance_id" in job:
        pool.busy_ids.add(job["instance_id"])


def _to_json(name: str, pool: _Pool) -> dict[str, Any]:
    active = pool.runner_ids | pool.busy_ids
    with_lifecycle = pool.on_spot + pool.on_demand
    result: dict[str, Any] = {
        "pool_name": name,
        "jobs": pool.jobs,
        "runners_active": len(active),
        "busy": len(pool.busy_ids),
        "seconds_used": pool.seconds,
        "usage_in_dollars": pool.dollars,
        "spot_share": pool.on_spot / with_lifecycle if with_lifecycle else None,
        "utilisation": len(pool.busy_ids) / len(active) if active else None,
    }
    return result | ({"instance_type": ", ".join(sorted(pool.instance_types))} if pool.instance_types else {})
