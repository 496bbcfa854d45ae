"""Read-through caches. A fresh item is returned from the table; for a stale one, a single reader calls GitHub.

reader 1   stale, not claimed ── refresh: claim, call GitHub, write the result ── read it
reader 2   stale, claimed ────── wait ──────────────────────────────────────────── fresh: read it
…          (the claim of a crashed reader expires, and another reader refreshes)

Reading and refreshing are separate: the API only reads, and a function with the App's key refreshes.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from runledger.model.errors import UnavailableError
from runledger.model.reports import Approval, DeploymentReport, RunReport, RunStatus
from runledger.platform.clock import SystemClock
from runledger.tables.deployments import DeploymentsTable
from runledger.tables.runs import RunsTable

RUN_FRESH_SECONDS = 25
DEPLOYMENT_FRESH_SECONDS = 300
CLAIM_SECONDS = 10
PATIENCE_SECONDS = 12
POLL_SECONDS = 0.1

Item = dict[str, Any]
RunKey = tuple[int, int, int]  # installation, run, attempt
DeploymentKey = tuple[int, int]  # installation, deployment


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRefresh:
    """Reads a run from GitHub and writes it to the table."""

    runs: RunsTable
    fetch: Callable[[int, str, int, int], RunReport | None]
    time: SystemClock = field(default_factory=SystemClock)

    def __call__(self, key: RunKey, repo_full_name: str) -> bool:
        """False if another reader has the claim. UnavailableError if GitHub can't be reached."""
        if not self.runs.claim(*key, at=self.time.text(), until=self.time.text(seconds_from_now=CLAIM_SECONDS)):
            return False
        installation_id, run_id, run_attempt = key
        report = self.fetch(installation_id, repo_full_name, run_id, run_attempt)
        if report:
            self.runs.absorb(report)
        else:
            self.runs.note_checked(*key, at=self.time.text())
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class DeploymentRefresh:
    """Reads a deployment from GitHub and writes it to the table."""

    deployments: DeploymentsTable
    fetch: Callable[[int, str, int], DeploymentReport | None]
    time: SystemClock = field(default_factory=SystemClock)

    def __call__(self, key: DeploymentKey, repo_full_name: str) -> bool:
        """As RunRefresh."""
        at, until = self.time.text(), self.time.text(seconds_from_now=CLAIM_SECONDS)
        if not self.deployments.claim(*key, at=at, until=until):
            return False
        installation_id, deployment_id = key
        report = self.fetch(installation_id, repo_full_name, deployment_id)
        if report:
            self.deployments.absorb(report)
        else:
            self.deployments.note_checked(*key, at=self.time.text())
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCache:
    """A finished run never changes; an unfinished one is refreshed after 25 seconds."""

    runs: RunsTable
    refresh: Callable[[RunKey, str], bool]
    time: SystemClock = field(default_factory=SystemClock)

    def get(self, installation_id: int, repo_full_name: str, run_id: int, run_attempt: int) -> Item | None:
        key = (installation_id, run_id, run_attempt)
        return _read_through(
            read=lambda: self.runs.get(*key),
            is_final=lambda run: run.get("status") == RunStatus.COMPLETED,
            fresh_seconds=RUN_FRESH_SECONDS,
            refresh=lambda: self.refresh(key, repo_full_name),
            time=self.time,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DeploymentCache:
    """A decision never changes; a pending deployment is refreshed after 5 minutes."""

    deployments: DeploymentsTable
    refresh: Callable[[DeploymentKey, str], bool]
    time: SystemClock = field(default_factory=SystemClock)

    def get(self, installation_id: int, repo_full_name: str, deployment_id: int) -> Item | None:
        key = (installation_id, deployment_id)
        return _read_through(
            read=lambda: self.deployments.get(*key),
            is_final=lambda found: found.get("status") in (Approval.APPROVED, Approval.REJECTED),
            fresh_seconds=DEPLOYMENT_FRESH_SECONDS,
            refresh=lambda: self.refresh(key, repo_full_name),
            time=self.time,
        )


def _read_through(
    *,
    read: Callable[[], Item | None],
    is_final: Callable[[Item], bool],
    fresh_seconds: int,
    refresh: Callable[[], bool],
    time: SystemClock,
) -> Item | None:
    deadline = time.now() + PATIENCE_SECONDS
    while True:
        found = read()
        if found and (is_final(found) or found.get("checked_at", "") > time.text(seconds_from_now=-fresh_seconds)):
            return _if_cached(found)
        # Skipping the refresh saves a write or an invocation that would fail.
        claimed = found is not None and found.get("claimed_until", "") > time.text()
        try:
            if not claimed and refresh():
                return _if_cached(read())
        except UnavailableError:
            return _stale_or_raise(found)
        if time.now() > deadline:
            return _stale_or_raise(found)
        time.sleep(POLL_SECONDS)


def _if_cached(found: Item | None) -> Item | None:
    """None for an item without a status: it is only a claim, or GitHub has no such run or deployment."""
    return found if found and "status" in found else None


def _stale_or_raise(found: Item | None) -> Item:
    """A stale item is better than none: `checked_at` shows its age."""
    if cached := _if_cached(found):
        return cached
    raise UnavailableError("GitHub did not answer, and nothing is cached yet")
