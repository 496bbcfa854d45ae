"""Utilisation and cost of each runner pool. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any

from runledger.model.completed_job import CompletedJob
from runledger.model.dataclass import dataclass
from runledger.model.runner import Runner
from runledger.queries.statistics import spot_share
from runledger.queries.usage import Total, Usage, machine_end


@dataclass(slots=True, kw_only=True)
class _Pool:
    instance_types: set[str] = field(default_factory=set)
    jobs: int = 0
    lifecycles: Counter[str] = field(default_factory=Counter)
    total: Total = field(default_factory=Total)
    runner_ids: set[str] = field(default_factory=set)
    busy_ids: set[str] = field(default_factory=set)


class Pools:
    """A job counts in the range in which it completed, and its cost in the ranges in which it ran.

    Runners are counted as of now.
    """

    def __init__(self, *, since: str, until: str) -> None:
        self._since, self._until = since, until
        self._pools: dict[str, _Pool] = {}

    def add_runners(self, runners: Iterable[Runner]) -> None:
        for runner in runners:
            if runner.pool_name:
                self._pool(runner.pool_name).runner_ids.add(runner.runner_id)

    def add_completed(self, job: CompletedJob) -> None:
        if job.pool_name is None:
            return
        pool = self._pool(job.pool_name)
        self._add_usage(pool, Usage.of(job))
        if self._since <= job.completed_at < self._until:
            pool.jobs += 1
            if job.instance_type:
                pool.instance_types.add(job.instance_type)
            if job.started_at and job.lifecycle:
                pool.lifecycles[job.lifecycle] += 1

    def add_running(self, job: Mapping[str, Any], *, now: str) -> None:
        """Until its machine ends, a busy runner counts as active, even if only its job is recorded."""
        if "pool_name" not in job:
            return
        pool = self._pool(job["pool_name"])
        self._add_usage(pool, Usage.so_far(job, now))
        if "instance_type" in job:
            pool.instance_types.add(job["instance_type"])
        if "instance_id" in job and machine_end(job) is None:
            pool.busy_ids.add(job["instance_id"])

    def to_json(self) -> list[dict[str, Any]]:
        """Sorted by name."""
        return [_to_json(name, pool) for name, pool in sorted(self._pools.items())]

    def _pool(self, name: str) -> _Pool:
        return self._pools.setdefault(name, _Pool())

    def _add_usage(self, pool: _Pool, usage: Usage | None) -> None:
        if usage and (part := usage.within(self._since, self._until)):
            pool.total.add(part)


def _to_json(name: str, pool: _Pool) -> dict[str, Any]:
    active = pool.runner_ids | pool.busy_ids
    result: dict[str, Any] = {
        "pool_name": name,
        "jobs": pool.jobs,
        "runners_active": len(active),
        "busy": len(pool.busy_ids),
        "seconds_used": round(pool.total.seconds),
        **pool.total.to_json(),
        "spot_share": spot_share(pool.lifecycles),
        "utilisation": len(pool.busy_ids) / len(active) if active else None,
    }
    return result | ({"instance_type": ", ".join(sorted(pool.instance_types))} if pool.instance_types else {})
