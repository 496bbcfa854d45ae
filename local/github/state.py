"""The state of the simulated GitHub, behind one lock."""

import itertools
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from enum import StrEnum
from threading import RLock
from typing import Any

from local.github.budget import Budget
from local.github.credentials import Credentials
from local.github.faults import Fault, Faults
from local.github.messages import Refusal, not_found
from local.github.records import COLLECTIONS, Delivery, Deployment, Installation, Job, Record, Run, Runner, Workflow

Clock = Callable[[], datetime]

FIRST_GENERATED_ID = 900_000_000_000
"""Above all ids that tests and the demo choose."""


def system_clock() -> datetime:
    return datetime.now(UTC)


def timestamp(moment: datetime) -> str:
    """GitHub's format: UTC, whole seconds."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


class RunDetails(StrEnum):
    """How a dispatch treats `return_run_details`, which Enterprise Servers don't have before 3.21."""

    RETURNED = "returned"
    IGNORED = "ignored"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What `PUT /_simulation/settings` changes."""

    webhook_url: str | None = None
    webhook_secret: str = ""
    token_lifetime_seconds: int = 3600
    rate_limit: int = 5000
    give_up_seconds: float = 10
    run_details: RunDetails = RunDetails.RETURNED

    def __post_init__(self) -> None:
        object.__setattr__(self, "run_details", RunDetails(self.run_details))


class State:
    """Shared by the server's threads: hold `lock` to read or change more than one value."""

    def __init__(self, clock: Clock, credentials: Credentials) -> None:
        self.lock = RLock()
        self.clock = clock
        self.credentials = credentials
        self.settings = Settings()
        self._ids = itertools.count(FIRST_GENERATED_ID)
        self.reset()

    def reset(self) -> None:
        """Deletes all records. Keeps the webhook settings: a deployed application stays connected."""
        with self.lock:
            self.settings = Settings(webhook_url=self.settings.webhook_url, webhook_secret=self.settings.webhook_secret)
            self.installations: dict[int, Installation] = {}
            self.runs: dict[int, Run] = {}
            self.jobs: dict[int, Job] = {}
            self.runners: dict[int, Runner] = {}
            self.deployments: dict[int, Deployment] = {}
            self.workflows: dict[int, Workflow] = {}
            self.deliveries: list[Delivery] = []
            self.faults = Faults()
            self.calls: Counter[tuple[str, int]] = Counter()
            self.budget = Budget(self.settings.rate_limit)

    def now(self) -> datetime:
        return self.clock()

    def new_id(self) -> int:
        return next(self._ids)

    def configure(self, **changes: Any) -> Settings:
        with self.lock, _rejecting_unknown_fields():
            self.settings = replace(self.settings, **changes)
            self.budget.limit = self.settings.rate_limit
            return self.settings

    def put(self, collection: str, record_id: int, **values: Any) -> Record:
        """Creates the record, or updates the given fields of an existing one."""
        record_type = COLLECTIONS[collection]
        with self.lock, _rejecting_unknown_fields():
            records: dict[int, Record] = getattr(self, collection)
            if record_id in records:
                record = replace(records[record_id], **values)
            else:
                if "created_at" in {field.name for field in fields(record_type)}:
                    values.setdefault("created_at", timestamp(self.now()))
                record = record_type(id=record_id, **values)
            if isinstance(record, Job) and record.run_id not in self.runs:
                raise Refusal(422, f"run {record.run_id} of job {record_id} doesn't exist: create the run first")
            records[record_id] = record
            return record

    def remove(self, collection: str, record_id: int) -> None:
        """Deletes a record, as when an owner uninstalls the App or deletes a run."""
        with self.lock:
            if getattr(self, collection).pop(record_id, None) is None:
                raise not_found()

    def add_fault(self, **values: Any) -> Fault:
        with self.lock, _rejecting_unknown_fields():
            fault = Fault(**values)
            self.faults.active.append(fault)
            return fault

    def clear_faults(self) -> None:
        with self.lock:
            self.faults = Faults()

    def calls_by_route(self) -> dict[str, dict[str, int]]:
        with self.lock:
            totals: dict[str, dict[str, int]] = {}
            for (route, status), count in self.calls.items():
                totals.setdefault(route, {})[str(status)] = count
            return totals


@contextmanager
def _rejecting_unknown_fields() -> Iterator[None]:
    """A typo in a test fails instead of being ignored."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise Refusal(422, str(error)) from error
