"""Installations that a webhook reported as deleted or suspended: GitHub confirms it, or the record is corrected."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from runledger.model import times
from runledger.model.reports import InstallationReport, InstallationStatus
from runledger.reconciliation.bounds import Bounds
from runledger.reconciliation.tally import Count, Tally
from runledger.tables.installations import InstallationsRegistry

# Right after a change, GitHub's API may still answer with what was true before it.
SETTLED_SECONDS = 120
# A flood of forged reports must leave time for the other parts of a pass.
AT_MOST = 100


class GitHub(Protocol):
    def installation(self, installation_id: int) -> InstallationReport | None:
        """None if the App has no such installation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallationCheck:
    registry: InstallationsRegistry
    github: GitHub

    def check(self, *, now: str, bounds: Bounds, tally: Tally) -> bool:
        """False if time ran out. The longest reported come first, so that each has its turn."""
        reported = sorted(self.registry.unconfirmed(), key=_reported_at)
        for each in reported[:AT_MOST]:
            if bounds.out_of_time():
                return False
            with tally.alone(f"installation {each['installation_id']}"):
                self._confirm(each, now=now, tally=tally)
        if left := len(reported[AT_MOST:]):
            tally.find(Count.POSTPONED, f"{left} more reports about installations: postponed to the next pass")
        return True

    def _confirm(self, reported: Mapping[str, Any], *, now: str, tally: Tally) -> None:
        installation_id = reported["installation_id"]
        found = self.github.installation(installation_id)
        actual = found.status if found else InstallationStatus.DELETED
        agreed = actual == reported["status"]
        if not agreed and _reported_at(reported) > times.earlier(now, seconds=SETTLED_SECONDS):
            return
        if not self.registry.confirm(reported, found, at=now):
            return  # Another webhook changed it meanwhile: the next pass looks at that.
        if agreed:
            tally.find(Count.INSTALLATIONS_CONFIRMED, f"installation {installation_id}: {actual}, GitHub confirms it")
        else:
            about = f"installation {installation_id}: reported as {reported['status']}, but GitHub says {actual}"
            tally.find(Count.INSTALLATIONS_CORRECTED, f"{about}; corrected")


def _reported_at(record: Mapping[str, Any]) -> str:
    """Records of earlier versions have only the time of the change."""
    return str(record.get("reported_at") or record["changed_at"])
