"""Read-through caches: answered from the table while it is true enough, else GitHub is asked, once for all who wait.

reader 1   stale? ── claim ── ask GitHub ── write the answer ── read it
reader 2   stale? ── claimed ── wait a little ── fresh: read it
…          (a claim of somebody who died ends by itself, and the next reader takes it)
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from runledger import times
from runledger.errors import UnavailableError
from runledger.reports import Approval, DeploymentReport, RunReport, RunStatus
from runledger.tables.deployments import DeploymentsTable
from runledger.tables.runs import RunsTable

RUN_FRESH_SECONDS = 25
DEPLOYMENT_FRESH_SECONDS = 300
CLAIM_SECONDS = 10
PATIENCE_SECONDS = 12
LOOK_AGAIN_SECONDS = 0.1

Item = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Time:
    """The epoch's seconds and a way to let some pass."""

    now: Callable[[], float] = time.time
    sleep: Callable[[float], None] = time.sleep

    def text(self, *, seconds_from_now: float = 0) -> str:
        return times.from_epoch_ms(round((self.now() + seconds_from_now) * times.MS_PER_SECOND))


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCache:
    """A finished run is true for ever; an unfinished one is asked of GitHub again after 25 seconds."""

    runs: RunsTable
    ask: Callable[[int, str, int, int], RunReport | None]
    time: Time = Time()

    def get(self, installation_id: int, repo_full_name: str, run_id: int, run_attempt: int) -> Item | None:
        key = (installation_id, run_id, run_attempt)

        def refresh() -> None:
            report = self.ask(installation_id, repo_full_name, run_id, run_attempt)
            if report:
                self.runs.absorb(report)
            else:
                self.runs.note_checked(*key, at=self.time.text())

        return _read_through(
            read=lambda: self.runs.get(*key),
            is_final=lambda run: run.get("status") == RunStatus.COMPLETED,
            fresh_seconds=RUN_FRESH_SECONDS,
            claim=lambda at, until: self.runs.claim(*key, at=at, until=until),
            refresh=refresh,
            time=self.time,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DeploymentCache:
    """A decision is true for ever; a pending deployment is asked of GitHub again after 5 minutes."""

    deployments: DeploymentsTable
    ask: Callable[[int, str, int], DeploymentReport | None]
    time: Time = Time()

    def get(self, installation_id: int, repo_full_name: str, deployment_id: int) -> Item | None:
        key = (installation_id, deployment_id)

        def refresh() -> None:
            report = self.ask(installation_id, repo_full_name, deployment_id)
            if report:
                self.deployments.absorb(report)
            else:
                self.deployments.note_checked(*key, at=self.time.text())

        return _read_through(
            read=lambda: self.deployments.get(*key),
            is_final=lambda found: found.get("status") in (Approval.APPROVED, Approval.REJECTED),
            fresh_seconds=DEPLOYMENT_FRESH_SECONDS,
            claim=lambda at, until: self.deployments.claim(*key, at=at, until=until),
            refresh=refresh,
            time=self.time,
        )


def _read_through(
    *,
    read: Callable[[], Item | None],
    is_final: Callable[[Item], bool],
    fresh_seconds: int,
    claim: Callable[[str, str], bool],
    refresh: Callable[[], None],
    time: Time,
) -> Item | None:
    give_up_at = time.now() + PATIENCE_SECONDS
    while True:
        found = read()
        if found and (is_final(found) or found.get("checked_at", "") > time.text(seconds_from_now=-fresh_seconds)):
            return _known(found)
        if claim(time.text(), time.text(seconds_from_now=CLAIM_SECONDS)):
            break
        if time.now() > give_up_at:
            return _stale_or_raise(found)
        time.sleep(LOOK_AGAIN_SECONDS)
    try:
        refresh()
    except UnavailableError:
        return _stale_or_raise(found)
    return _known(read())


def _known(found: Item | None) -> Item | None:
    """An item without a status is only a claim, or a note that GitHub knows of nothing."""
    return found if found and "status" in found else None


def _stale_or_raise(found: Item | None) -> Item:
    """What was true a while ago, with `checked_at` to say when, is better than nothing."""
    if known := _known(found):
        return known
    raise UnavailableError("GitHub did not answer, and nothing is known yet")
