"""Checks on GitHub whether an installation was deleted or suspended, as a webhook reported, and corrects the record."""

from collections.abc import Mapping
from typing import Any, Protocol

from runledger.model import times
from runledger.model.dataclass import dataclass
from runledger.model.reports import InstallationReport, InstallationStatus
from runledger.reconciliation.passes import Pass
from runledger.reconciliation.tally import Count
from runledger.tables.installations import InstallationsRegistry

# Right after a change, GitHub's API may still return the previous state.
SETTLED_SECONDS = 120
# A flood of forged reports must leave time for the other parts of a pass.
AT_MOST = 100


class GitHubInstallations(Protocol):
    def installation(self, installation_id: int) -> InstallationReport | None:
        """None if the App has no such installation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallationCheck:
    registry: InstallationsRegistry
    github: GitHubInstallations

    def check(self, current: Pass) -> bool:
        """False if time ran out. The oldest reports come first, so that none is deferred forever."""
        reported = sorted(self.registry.unconfirmed(), key=_reported_at)
        for each in reported[:AT_MOST]:
            if current.out_of_time():
                return False
            with current.tally.isolated(f"installation {each['installation_id']}"):
                self._confirm(each, current)
        if left := len(reported[AT_MOST:]):
            current.tally.report(Count.POSTPONED, f"{left} more reports about installations: deferred to the next pass")
        return True

    def _confirm(self, reported: Mapping[str, Any], current: Pass) -> None:
        installation_id = reported["installation_id"]
        found = self.github.installation(installation_id)
        actual = found.status if found else InstallationStatus.DELETED
        agreed = actual == reported["status"]
        if not agreed and _reported_at(reported) > times.earlier(current.now, seconds=SETTLED_SECONDS):
            return
        if not self.registry.confirm(reported, found, at=current.now):
            return  # another webhook has changed it since; the next pass checks that report
        if agreed:
            finding = f"installation {installation_id}: {actual}, confirmed by GitHub"
            current.tally.report(Count.INSTALLATIONS_CONFIRMED, finding)
        else:
            about = f"installation {installation_id}: reported as {reported['status']}, but {actual} on GitHub"
            current.tally.report(Count.INSTALLATIONS_CORRECTED, f"{about}; corrected")


def _reported_at(record: Mapping[str, Any]) -> str:
    """Records from earlier versions have only the time of the change."""
    return str(record.get("reported_at") or record["changed_at"])
