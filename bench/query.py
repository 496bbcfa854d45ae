"""Read units, items and calls of each API request, for a ledger with many jobs."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bench.lives import TYPICAL, Life, normal
from bench.report import Entry
from tests.api.client import Client

if TYPE_CHECKING:
    from bench.bed import Bed

JOBS = 70
OPEN_JOBS = 10
OK = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    name: str
    path: str
    query: dict[str, Any]


def questions(job: Life) -> list[Question]:
    here, repo = f"/v1/installations/{job.installation_id}", TYPICAL["repository"]["full_name"]
    asked: dict[str, tuple[str, dict[str, Any]]] = {
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
    return [Question(name=name, path=path, query=query) for name, (path, query) in asked.items()]


def measure(bed: Bed) -> list[Entry]:
    jobs = [Life() for _ in range(JOBS)]
    for number, job in enumerate(jobs):
        bed.measure(*normal(job)[: 1 if number < OPEN_JOBS else None])
    client = Client(handler=importlib.import_module("api").handler)
    return [entry for question in questions(jobs[-1]) for entry in _asked(bed, client, question)]


def _asked(bed: Bed, client: Client, question: Question) -> list[Entry]:
    client.get(question.path, **question.query)  # warms the function's caches
    usage = bed.meter.reset()
    answer = client.get(question.path, **question.query)
    if answer.status != OK:
        raise RuntimeError(f"GET {question.path} returned {answer.status}: {answer.body}")
    how = f"Amazon DynamoDB Local, {JOBS} jobs, {OPEN_JOBS} of them queued; the real handler: {_shown(question)}"
    found = {"read_units": usage.read(), "items": usage.items_read, "calls": usage.round_trips}
    units = {"read_units": "read units", "items": "items", "calls": "calls"}
    return [
        Entry(key=f"query.{question.name}.{what}", value=value, unit=units[what], how=how)
        for what, value in found.items()
    ]


def _shown(question: Question) -> str:
    return "GET " + question.path + "".join(f" {name}={value}" for name, value in question.query.items())
