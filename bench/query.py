"""Read units, items and calls of each API request, for a ledger with many jobs."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bench.lives import TYPICAL, Life, normal
from bench.report import Figure
from tests.api.client import Client

if TYPE_CHECKING:
    from bench.harness import Harness

JOBS = 70
OPEN_JOBS = 10
OK = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    name: str
    path: str
    parameters: dict[str, Any]


def queries(job: Life) -> list[Query]:
    here, repo = f"/v1/installations/{job.installation_id}", TYPICAL["repository"]["full_name"]
    requests: dict[str, tuple[str, dict[str, Any]]] = {
        "one_job": (f"{here}/jobs/{job.job_id}", {}),
        "its_history": (f"{here}/jobs/{job.job_id}/events", {}),
        "a_run": (f"{here}/runs/{job.run_id}", {}),
        "a_page_of_50_by_status": (f"{here}/jobs", {"status": "completed", "limit": 50}),
        "a_page_of_50_by_repository": (f"{here}/jobs", {"repo": repo, "limit": 50}),
        "jobs_of_a_run": (f"{here}/jobs", {"run_id": job.run_id}),
        "counts": (f"{here}/counts", {}),
        "statistics_of_a_repository": (f"{here}/statistics", {"repo": repo}),
        "stuck_jobs": (f"{here}/stuck", {}),
    }
    return [Query(name=name, path=path, parameters=parameters) for name, (path, parameters) in requests.items()]


def measure(harness: Harness) -> list[Figure]:
    jobs = [Life() for _ in range(JOBS)]
    for number, job in enumerate(jobs):
        harness.measure(job.run_requested(), *normal(job)[: 1 if number < OPEN_JOBS else None])
    client = Client(handler=importlib.import_module("api").handler)
    return [entry for query in queries(jobs[-1]) for entry in _measure(harness, client, query)]


def _measure(harness: Harness, client: Client, query: Query) -> list[Figure]:
    client.get(query.path, **query.parameters)  # warms the function's caches
    usage = harness.meter.reset()
    response = client.get(query.path, **query.parameters)
    if response.status != OK:
        raise RuntimeError(f"GET {query.path} returned {response.status}: {response.body}")
    how = f"Amazon DynamoDB Local, {JOBS} jobs, {OPEN_JOBS} of them queued; the real handler: {_text(query)}"
    found = {"read_units": usage.read(), "items": usage.items_read, "calls": usage.round_trips}
    units = {"read_units": "read units", "items": "items", "calls": "calls"}
    return [
        Figure(key=f"query.{query.name}.{what}", value=value, unit=units[what], how=how)
        for what, value in found.items()
    ]


def _text(query: Query) -> str:
    return "GET " + query.path + "".join(f" {name}={value}" for name, value in query.parameters.items())
