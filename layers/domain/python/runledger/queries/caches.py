"""Read-through caches. A fresh item is returned from the table; for a stale one, a single reader calls GitHub.

reader 1   stale, not claimed ── refresh: claim, call GitHub, write the result ── read it
reader 2   stale, claimed ────── wait ──────────────────────────────────────────── fresh: read it
…          (the claim of a crashed reader expires, and another reader refreshes)

Reading and refreshing are separate: the API only reads, and a function with the App's key refreshes.
"""

from collections.abc import Callable
from dataclasses import field
from typing import Any, Generic, Protocol, TypeVar

from runledger.model.dataclass import dataclass
from runledger.model.errors import UnavailableError
from runledger.model.keys import DeploymentKey, RunKey
from runledger.model.reports import Approval, RunStatus
from runledger.platform.clock import SystemClock
from runledger.tables.deployments import DeploymentsTable
from runledger.tables.runs import RunsTable

RUN_FRESH_SECONDS = 25
DEPLOYMENT_FRESH_SECONDS = 300
# How long a miss on GitHub is cached. A webhook about the missing item is recorded at once.
MISS_FRESH_SECONDS = 300
CLAIM_SECONDS = 10
LONGEST_WAIT_SECONDS = 12
POLL_SECONDS = 0.1

Item = dict[str, Any]
Key = TypeVar("Key")
Found = TypeVar("Found")
Key_contra = TypeVar("Key_contra", contravariant=True)
Found_contra = TypeVar("Found_contra", contravariant=True)
CLOCK = SystemClock()


class CachingTable(Protocol[Key_contra, Found_contra]):
    """The runs table or the deployments table."""

    def get(self, key: Key_contra, /) -> Item | None: ...
    def claim(self, key: Key_contra, /, *, at: str, until: str) -> bool: ...
    def refresh(self, report: Found_contra, /) -> object: ...
    def note_checked(self, key: Key_contra, /, *, at: str, repo_full_name: str) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Refresh(Generic[Key, Found]):
    """Reads a run or deployment from GitHub and writes it to its table.

    A lookup is a refresh of an item that isn't in the table. It ends its claim, so a reader that read the table before
    can claim the item again, and then checks whether it was looked up in between.
    `notes_found` also records a successful lookup on the claimed item. A lookup of the newest attempt writes a
    different item than the one it claims, and readers that wait for the claim must see that it is done.
    """

    table: CachingTable[Key, Found]
    fetch: Callable[[Key, str], Found | None]
    time: SystemClock = field(default_factory=SystemClock)
    is_lookup: bool = False
    notes_found: bool = False

    def __call__(self, key: Key, repo_full_name: str) -> bool:
        """False if another reader has the claim. Raises UnavailableError if GitHub can't be reached."""
        if not self.table.claim(key, at=self.time.text(), until=self.time.text(seconds_from_now=CLAIM_SECONDS)):
            return False
        if self.is_lookup and self._was_checked(key, repo_full_name):
            return False
        report = self.fetch(key, repo_full_name)
        if report:
            self.table.refresh(report)
        if not report or self.notes_found:
            self.table.note_checked(key, at=self.time.text(), repo_full_name=repo_full_name)
        return True

    def _was_checked(self, key: Key, repo_full_name: str) -> bool:
        found = self.table.get(key) or {}
        is_same = found.get("checked_repo", "").casefold() == repo_full_name.casefold()
        return bool(is_same and found.get("checked_at", "") > self.time.text(seconds_from_now=-MISS_FRESH_SECONDS))


@dataclass(frozen=True, slots=True, kw_only=True)
class Cache(Generic[Key]):
    """Items with a status in `final` never change. Others are refreshed after `fresh_seconds`."""

    table: CachingTable[Key, Any]
    refresh: Callable[[Key, str], bool]
    final: frozenset[str]
    fresh_seconds: int
    time: SystemClock

    def get(self, key: Key, repo_full_name: str) -> Item | None:
        deadline = self.time.now() + LONGEST_WAIT_SECONDS
        while True:
            found = self.table.get(key)
            if found and self._is_fresh(found, repo_full_name):
                return _if_cached(found)
            # A claimed item isn't refreshed here: the write or the invocation would fail.
            claimed = found is not None and found.get("claimed_until", "") > self.time.text()
            try:
                if not claimed and self.refresh(key, repo_full_name):
                    return _if_cached(self.table.get(key))
            except UnavailableError:
                # A stale item is better than none: `checked_at` shows its age.
                if stale := _if_cached(found):
                    return stale
                raise
            if self.time.now() > deadline:
                if stale := _if_cached(found):
                    return stale
                raise UnavailableError("GitHub did not respond, and nothing is cached yet")
            self.time.sleep(POLL_SECONDS)

    def _is_fresh(self, found: Item, repo_full_name: str) -> bool:
        """A miss in one repository doesn't count for another."""
        if found.get("status") in self.final:
            return True
        if "status" not in found and found.get("checked_repo", repo_full_name).casefold() != repo_full_name.casefold():
            return False
        fresh_seconds = self.fresh_seconds if "status" in found else MISS_FRESH_SECONDS
        return bool(found.get("checked_at", "") > self.time.text(seconds_from_now=-fresh_seconds))


def run_cache(runs: RunsTable, refresh: Callable[[RunKey, str], bool], *, time: SystemClock = CLOCK) -> Cache[RunKey]:
    return Cache(
        table=runs,
        refresh=refresh,
        final=frozenset({RunStatus.COMPLETED}),
        fresh_seconds=RUN_FRESH_SECONDS,
        time=time,
    )


def deployment_cache(
    deployments: DeploymentsTable, refresh: Callable[[DeploymentKey, str], bool], *, time: SystemClock = CLOCK
) -> Cache[DeploymentKey]:
    return Cache(
        table=deployments,
        refresh=refresh,
        final=frozenset({Approval.APPROVED, Approval.REJECTED}),
        fresh_seconds=DEPLOYMENT_FRESH_SECONDS,
        time=time,
    )


def _if_cached(found: Item | None) -> Item | None:
    """None for an item without a status: it is only a claim, or GitHub has no such run or deployment."""
    return found if found and "status" in found else None
