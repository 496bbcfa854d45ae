"""Finds the registrations of a machine on GitHub and removes them, so that no job can start on the machine.

    search ────────────── search again ─────────── remove ──────────────────────── terminate the machine
    all scopes, once      all scopes, lists of     the machine's organisation and
    per pass              the last two minutes     repository, right before

A machine may register at any time, once for each job, and in any repository of its owner. So scopes that were
listed minutes ago are listed again.
"""

import math
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cached_property

from runledger.model.dataclass import dataclass
from runledger.model.errors import RegisteredElsewhere, UnavailableError
from runledger.model.inputs import Status
from runledger.model.ownership import account_of
from runledger.model.reports import NO_INSTALLATION
from runledger.model.runner import Runner
from runledger.model.runner_names import is_unmistakable, machine_in, names
from runledger.model.suspicion import RegistrationState
from runledger.reconciliation.registrations import MachineSearch

from runledger_github.app import GitHubApp
from runledger_github.calls import Json
from runledger_github.errors import Refused
from runledger_github.runner_lists import RegistrationScope, RunnerLists

BUSY = 422
OFFLINE = "offline"
AWAITING = (Status.QUEUED, Status.SCHEDULED)
# All machines that are terminated within this time share the second list of a scope. A list for each machine would take
# a call for each repository: with 300 repositories, only 9 of 100 orphans were terminated in an hour.
FRESH_SECONDS = 120
UNCACHED = -math.inf  # the age of a list that is requested for one machine


@dataclass(frozen=True, kw_only=True)
class Registrations:
    """The lists of a search are cached until `begin`, so that all machines of a pass share them.

    That is safe: a machine is checked long after it should have registered, lists that may have changed are requested
    again, and GitHub refuses to remove a runner that has become busy since it was listed.
    """

    app: GitHubApp
    known_machines: Callable[[set[str]], Collection[str]]  # returns the ids that belong to known machines
    clock: Callable[[], float] = time.monotonic

    @cached_property
    def _listed_in_pass(self) -> RunnerLists:
        return RunnerLists(app=self.app, clock=self.clock)

    @cached_property
    def _listed_again(self) -> RunnerLists:
        return RunnerLists(app=self.app, clock=self.clock)

    def begin(self) -> None:
        self._listed_in_pass.clear()
        self._listed_again.clear()

    def search(self, machine: MachineSearch) -> None:
        """Lists all runners that the installations can see. Raises UnavailableError unless all of them respond."""
        for _ in self._listed(machine):
            pass

    def state_of(self, machine: MachineSearch) -> RegistrationState:
        """Uses the lists of the search. Raises UnavailableError if another registration may be this machine's."""
        listed = list(self._listed(machine))
        found = [(scope, each) for scope, each in listed if _is_registration_of(machine, scope, each)]
        if any(each.get("busy") for _, each in found):
            return RegistrationState.BUSY
        if any(each.get("status") != OFFLINE for _, each in found):
            return RegistrationState.IDLE
        identified = {scope.installation_id for scope, _ in found}
        self._ensure_no_other_may_be(machine.runner, [pair for pair in listed if pair not in found], identified)
        return RegistrationState.NONE

    def search_again(self, machine: MachineSearch) -> None:
        """Lists the runners again that `remove` doesn't list itself. Machines share lists of the last two minutes.

        Raises UnavailableError unless all installations respond.
        """
        for installation_id in machine.installation_ids:
            self._listed_again.scopes(installation_id, machine.may_ask, age=FRESH_SECONDS)
        _, far = self._to_list_again(machine)
        for scope in _sorted(far):
            self._listed_again.runners(scope, machine.may_ask, age=FRESH_SECONDS)

    def remove(self, machine: MachineSearch) -> bool:
        """False while it is busy. A runner that has registered again has a new id, and is found by its name.

        Raises RegisteredElsewhere if another installation has a registration: the recorded owner may be wrong.
        """
        runner, job, may_ask = machine.runner, machine.job, machine.may_ask
        listed = list(self._listed(machine))
        found = [(scope, each) for scope, each in listed if _is_registration_of(machine, scope, each)]
        if any(each.get("busy") for _, each in found):
            return False
        for scope, _ in found:
            if not _may_own(runner, scope, machine.installation_ids):
                raise RegisteredElsewhere(runner.runner_id, installation_id=scope.installation_id)
        identified = {scope.installation_id for scope, _ in found}
        self._ensure_no_other_may_be(runner, [pair for pair in listed if pair not in found], identified)
        found_in = {scope for scope, _ in found}
        near, far = self._to_list_again(machine)
        for scope in _sorted(far - found_in):
            self._ensure_not_registered(machine, (scope, self._listed_again.runners(scope, may_ask)), identified)
        for scope in _sorted(near - found_in):
            again = self._listed_again.runners(scope, may_ask, age=UNCACHED)
            self._ensure_not_registered(machine, (scope, again), identified)
        if job is not None and job.status in AWAITING:
            self._ensure_still_offline(machine, found)
        if not all(self._delete(scope, int(each["id"])) for scope, each in found):
            return False
        removed = {each["id"] for _, each in found}
        for scope in found_in:
            left = [
                each for each in self._listed_again.runners(scope, may_ask, age=UNCACHED) if each["id"] not in removed
            ]
            self._ensure_not_registered(machine, (scope, left), identified)
        return True

    def _ensure_still_offline(self, machine: MachineSearch, found: Sequence[tuple[RegistrationScope, Json]]) -> None:
        """Raises UnavailableError if the machine has come online since the search: it can take the job that awaits it.

        GitHub would remove the runner, because it isn't busy yet.
        """
        for scope in _sorted({scope for scope, each in found if each.get("status") == OFFLINE}):
            listed = self._listed_again.runners(scope, machine.may_ask, age=UNCACHED)
            if any(_is_registration_of(machine, scope, each) and each.get("status") != OFFLINE for each in listed):
                raise UnavailableError(f"{machine.runner.runner_id} has come online on GitHub")

    def _ensure_not_registered(
        self,
        machine: MachineSearch,
        listed: tuple[RegistrationScope, Sequence[Json]],
        identified: Collection[int],
    ) -> None:
        """Raises UnavailableError if the machine is, or may be, one of the runners registered in the scope."""
        scope, registered = listed
        if any(_is_registration_of(machine, scope, each) for each in registered):
            raise UnavailableError(f"{machine.runner.runner_id} has registered with GitHub again")
        self._ensure_no_other_may_be(machine.runner, [(scope, each) for each in registered], identified)

    def _to_list_again(self, machine: MachineSearch) -> tuple[set[RegistrationScope], set[RegistrationScope]]:
        """Scopes where the machine may have registered since then: near ones (its organisation and repository) and far
        ones (all others, because a machine may register with another repository for each job). Only a launcher's tag
        that names a repository limits the machine to that one.
        """
        runner, job, may_ask = machine.runner, machine.job, machine.may_ask
        scopes = {scope for each in machine.installation_ids for scope in self._listed_again.scopes(each, may_ask)}
        named = {runner.repo_full_name, runner.owner_name, job.repo_full_name if job else None}
        repositories = {name.lower() for name in named if name and "/" in name}
        near = {each for each in scopes if not each.is_repository or each.name.lower() in repositories}
        tagged = any(each.is_repository and each.name.lower() == runner.owner_name for each in near)
        return near, set() if tagged and len(machine.installation_ids) == 1 else scopes - near

    def _listed(self, machine: MachineSearch) -> Iterator[tuple[RegistrationScope, Json]]:
        for installation_id in machine.installation_ids:
            for scope in self._listed_in_pass.scopes(installation_id, machine.may_ask):
                for each in self._listed_in_pass.runners(scope, machine.may_ask):
                    yield scope, each

    def _ensure_no_other_may_be(
        self, runner: Runner, others: Sequence[tuple[RegistrationScope, Json]], identified: Collection[int]
    ) -> None:
        """A runner whose name contains no known machine's id may be this machine, even if another was identified.

        If that runner is busy, the machine may be busy. If it is idle and its installation has no registration of this
        machine, a job may start on it at any moment. An offline runner gets no job. `identified` holds the
        installations with a registration of this machine. Anyone can register a runner under its id, so such a
        registration proves nothing about the runners of other installations.
        """
        unclear = [
            (scope, each)
            for scope, each in others
            if each.get("busy") or (scope.installation_id not in identified and each.get("status") != OFFLINE)
        ]
        named = {str(each.get("name")): machine_in(str(each.get("name"))) for _, each in unclear}
        known = self.known_machines({machine for machine in named.values() if machine})
        for scope, each in unclear:
            machine = named[str(each.get("name"))]
            if machine is None or not (is_unmistakable(machine) or machine in known):
                raise UnavailableError(
                    f"a runner of installation {scope.installation_id} may be {runner.runner_id}: "
                    "its name contains no machine's id"
                )

    def _delete(self, scope: RegistrationScope, runner_id: int) -> bool:
        installation = self.app.installation(scope.installation_id)
        delete = installation.delete_repo_runner if scope.is_repository else installation.delete_org_runner
        try:
            delete(scope.name, runner_id)
        except Refused as refused:
            if refused.status != BUSY:
                raise
            return False
        return True


def _may_own(runner: Runner, scope: RegistrationScope, searched: Collection[int]) -> bool:
    """Whether a registration in this scope is consistent with the runner's owner. Without an owner, every scope is."""
    if runner.installation_id in (None, scope.installation_id):
        return True
    if runner.installation_id in searched:
        return False
    # The owner's webhooks come from a hook without an App, or the App was installed again.
    return account_of(runner.repo_full_name or "") == account_of(scope.name)


def _is_registration_of(machine: MachineSearch, scope: RegistrationScope, listed: Json) -> bool:
    """Whether the name contains the machine's id, or name, id and scope match what GitHub reported for its job."""
    name, job = str(listed.get("name")), machine.job
    if names(name, machine.runner.runner_id.rpartition("/")[2]):
        return True
    other = machine_in(name)
    if other is not None and is_unmistakable(other):
        return False  # the job ran on another machine, which may be busy with another job
    return (
        job is not None
        and (name, listed.get("id")) == (job.runner_name, job.runner_id)
        and job.installation_id in (NO_INSTALLATION, scope.installation_id)
        and scope.name.lower() in ((job.repo_full_name or "").lower(), account_of(job.repo_full_name or ""))
    )


def _sorted(scopes: set[RegistrationScope]) -> list[RegistrationScope]:
    return sorted(scopes, key=lambda each: each.name)
