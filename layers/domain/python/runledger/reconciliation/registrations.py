"""The search for a machine's registrations on GitHub, as runledger_github implements it."""

from collections.abc import Callable, Sequence
from typing import Protocol

from runledger.model.dataclass import dataclass
from runledger.model.job import Job
from runledger.model.runner import Runner
from runledger.model.suspicion import RegistrationState


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineSearch:
    """A machine, its job, and the installations whose runners are listed.

    `may_ask` is False for an installation whose remaining rate limit is kept for other work.
    """

    runner: Runner
    job: Job | None
    installation_ids: Sequence[int]
    may_ask: Callable[[int], bool]


class Registrations(Protocol):
    """Methods raise UnavailableError unless all installations respond."""

    def begin(self) -> None:
        """Drops the lists of an earlier pass."""

    def search(self, machine: MachineSearch) -> None:
        """Lists the runners of the installations."""

    def state_of(self, machine: MachineSearch) -> RegistrationState:
        """Also raises UnavailableError if another registration may be this machine's."""

    def search_again(self, machine: MachineSearch) -> None:
        """Lists what may have changed since the search, except what `remove` lists itself."""

    def remove(self, machine: MachineSearch) -> bool:
        """False while GitHub reports it as busy.

        Raises RegisteredElsewhere, before anything is removed, if a registration isn't with the runner's own
        installation.
        """
