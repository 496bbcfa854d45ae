"""Lookups of runs and deployments that the ledger doesn't have: which are allowed, and how many."""

from collections.abc import Callable

from runledger.model.dataclass import dataclass
from runledger.model.errors import UnavailableError
from runledger.model.payload import is_repository_name
from runledger.platform.clock import SystemClock
from runledger.queries.caches import Found, Key
from runledger.tables.installations import InstallationsRegistry
from runledger.tables.lookup_counts import LookupCounts

# A lookup takes one or two calls, so this is at most half of GitHub's smallest limit, 5,000 calls an hour.
MAX_PER_MINUTE = 20

Fetch = Callable[[Key, str], Found | None]


class TooManyLookups(UnavailableError):
    def __init__(self, installation_id: int) -> None:
        super().__init__(
            f"installation {installation_id} has reached its limit of {MAX_PER_MINUTE} lookups per minute: "
            "try again later"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookups:
    registry: InstallationsRegistry
    counts: LookupCounts
    time: SystemClock

    def is_own(self, installation_id: int, repo_full_name: str) -> bool:
        """Whether the repository belongs to the installation's account. A token can also read every public
        repository, and their runs must not get into the ledger.
        """
        account = self.registry.account(installation_id)
        owner = repo_full_name.partition("/")[0]
        return account is not None and is_repository_name(repo_full_name) and owner.casefold() == account.casefold()

    def counted(self, installation_id: int, fetch: Fetch[Key, Found]) -> Fetch[Key, Found]:
        """Raises TooManyLookups instead of calling GitHub."""

        def count_and_fetch(key: Key, repo_full_name: str) -> Found | None:
            if not self.counts.count(installation_id, at=self.time.text()):
                raise TooManyLookups(installation_id)
            return fetch(key, repo_full_name)

        return count_and_fetch
