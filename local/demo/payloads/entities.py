"""Repositories, runs, jobs, runners and deployments, which the demo's payloads are about, and the deliveries."""

from __future__ import annotations

import uuid
import zlib
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

Payload = dict[str, Any]

# A webhook arrives within a second of its event: events that are a second apart arrive in their order.
_FASTEST_MS, _SPREAD_MS = 300, 600
_IDS = uuid.UUID("6f7c2f6e-2d51-4a4f-9a43-0d8f6a3f7d11")


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """Installation 0 stands for a repository hook, whose payloads contain no installation."""

    full_name: str
    id: int
    private: bool
    installation_id: int = 0

    @property
    def owner(self) -> str:
        return self.full_name.partition("/")[0]

    @property
    def owner_id(self) -> int:
        return self.id // 1000

    @property
    def name(self) -> str:
        return self.full_name.partition("/")[2]

    @property
    def url(self) -> str:
        return f"https://api.github.com/repos/{self.full_name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """The App on the account that owns these repositories."""

    id: int
    repositories: tuple[Repository, ...]
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Runner:
    id: int
    name: str

    @classmethod
    def on(cls, machine: str, *, prefix: str = "runner") -> Runner:
        """Named after its instance or task, as launchers do. The same machine always has the same runner."""
        return cls(id=zlib.crc32(machine.encode()), name=f"{prefix}-{machine.rpartition('/')[2]}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One attempt of a run. A re-run keeps the id and the creation time."""

    id: int
    attempt: int
    workflow_name: str
    repository: Repository
    head_sha: str
    head_branch: str
    created_at: datetime
    started_at: datetime
    committed_at: datetime | None = None  # by default, when the run was created

    @property
    def number(self) -> int:
        return self.id % 1000 + 1

    @property
    def workflow_id(self) -> int:
        return workflow_id(self.repository, self.workflow_name)

    @property
    def url(self) -> str:
        return f"{self.repository.url}/actions/runs/{self.id}"

    @property
    def workflow_path(self) -> str:
        return f".github/workflows/{self.workflow_name.lower()}.yml"

    @property
    def ledger_key(self) -> str:
        return f"{self.repository.installation_id}#{self.id}#{self.attempt}"


def workflow_id(repository: Repository, name: str) -> int:
    return zlib.crc32(f"{repository.full_name} {name}".encode())


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    id: int
    environment: str
    version: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    id: int
    run: Run
    name: str
    labels: tuple[str, ...]
    created_at: datetime
    deployment: Deployment | None = None

    @property
    def html_url(self) -> str:
        return f"https://github.com/{self.run.repository.full_name}/actions/runs/{self.run.id}/job/{self.id}"

    @property
    def ledger_key(self) -> str:
        return f"{self.run.repository.installation_id}#{self.id}"


Subject = Installation | Run | Job


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One delivery. A redelivery keeps the id, a lost delivery is never sent, and a failed one never arrives."""

    delivery_id: str
    event: str
    subject: Subject
    happened_at: datetime
    sent_at: datetime
    lost: bool = False
    failed: bool = False
    payload: Payload = field(repr=False, hash=False)

    @property
    def received_at(self) -> datetime:
        """Follows from the id, so that the same demo has the same times."""
        latency = _FASTEST_MS + zlib.crc32(self.delivery_id.encode()) % _SPREAD_MS
        return self.sent_at + timedelta(milliseconds=latency)

    @property
    def installation_id(self) -> int:
        installation: Payload = self.payload.get("installation", {"id": 0})
        return int(installation["id"])


def delivery(event: str, subject: Subject, at: datetime, payload: Payload, *, hook: str = "") -> Delivery:
    """Sent at the time of the event; `hook` distinguishes hooks that send the same event."""
    state = payload.get("deployment_status", payload).get("state", payload["action"])
    return Delivery(
        delivery_id=str(uuid.uuid5(_IDS, f"{event} {subject.id} {state} {at.isoformat()} {hook}")),
        event=event,
        subject=subject,
        happened_at=at,
        sent_at=at,
        payload=payload,
    )
