"""Lookups of runs and deployments that the ledger doesn't have: which are allowed, and how many."""

from dataclasses import dataclass

from runledger.model.errors import UnavailableError
from runledger.model.payload import is_repository_name
from runledger.platform.clock import SystemClock
from runledger.tables.github_lookups import MOST_PER_MINUTE, LookupCounts
from runledger.tables.installations import InstallationsRegistry


class TooManyLookups(UnavailableError):
    def __init__(self, installation_id: int) -> None:
        super().__init__(
            f"installation {installation_id} has had its {MOST_PER_MINUTE} lookups of this minute: try again later"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookups:
    registry: InstallationsRegistry
    counts: LookupCounts
    time: SystemClock

    def is_own(self, installation_id: int, repo_full_name: str) -> bool:
        """Whether the repository belongs to the installation's account. A token also reads every public repository of
        GitHub, and their runs must not get into the ledger.
        """
        account = self.registry.account(installation_id)
        owner = repo_full_name.partition("/")[0]
        return account is not None and is_repository_name(repo_full_name) and owner.casefold() == account.casefold()

    def count(self, installation_id: int) -> None:
        """Raises TooManyLookups. Call it before the claim: a claim that nothing follows makes other readers wait."""
        if not self.counts.count(installation_id, at=self.time.text()):
            raise TooManyLookups(installation_id)
