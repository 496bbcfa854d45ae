"""Finds the registrations of a machine on GitHub and removes them, so that no job can start on the machine.

A search is complete or it fails: an installation that doesn't exist, is suspended or rejects a request raises an
UnavailableError, because a runner that wasn't listed may be busy. Runners of an enterprise can't be listed with the
token of an installation.
"""

import time
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Generic, TypeVar

from runledger.model.errors import RegisteredElsewhere, UnavailableError
from runledger.model.job import Job
from runledger.model.ownership import account_of
from runledger.model.reports import NO_INSTALLATION
from runledger.model.runner import Runner
from runledger.model.runner_names import is_unmistakable, machine_in, names

from runledger_github.app import GitHubApp
from runledger_github.errors import GitHubRefusal, Refused
from runledger_github.messages import Json

BUSY = 422
OFFLINE = "offline"
PAGE_SIZE = 100
LISTINGS_AT_MOST = 4
# How long a second list of a scope serves all machines that are stopped meanwhile. A list for each machine would take a
# call for each repository: of 100 orphans in 300 repositories, 9 were stopped in an hour.
FRESH_SECONDS = 120
ORGANIZATION = "Organization"
S = TypeVar("S")
T = TypeVar("T", bound=Hashable)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Where runners are registered: an organisation (`acme`) or one repository (`acme/web`)."""

    installation_id: int
    name: str

    @property
    def is_repository(self) -> bool:
        return "/" in self.name


class _Cache(Generic[S]):
    """Responses of GitHub, including failures: each request is sent once."""

    def __init__(self) -> None:
        self._responses: dict[Hashable, list[S] | UnavailableError] = {}

    def clear(self) -> None:
        self._responses.clear()

    def get(self, key: T, ask: Callable[[T], list[S]], may_ask: Callable[[], bool]) -> list[S]:
        response = self._responses.get(key)
        if response is None:
            if not may_ask():
                raise UnavailableError(
                    "the pass has no time left, or the rest of the rate limit is reserved for others"
                )
            try:
                response = ask(key)
            except UnavailableError as unavailable:
                response = unavailable
            except GitHubRefusal as refusal:
                response = UnavailableError(f"GitHub rejects the request for a list of runners: {refusal}")
            self._responses[key] = response
        if isinstance(response, UnavailableError):
            raise response
        return response


@dataclass(frozen=True, slots=True, kw_only=True)
class Registrations:
    """Lists are cached until `begin`, so that all machines of a pass share them.

    That is safe: a machine is checked long after it should have registered, and GitHub refuses to remove a runner that
    has become busy since it was listed.
    """

    app: GitHubApp
    known_machines: Callable[[set[str]], Collection[str]]  # returns the ids that belong to known machines
    clock: Callable[[], float] = time.monotonic
    _scopes: _Cache[Scope] = field(default_factory=_Cache)
    _runners: _Cache[Json] = field(default_factory=_Cache)
    _listed_again: dict[Scope, tuple[float, list[Json]]] = field(default_factory=dict)

    def begin(self) -> None:
        self._scopes.clear()
        self._runners.clear()
        self._listed_again.clear()

    def search(self, installation_ids: Sequence[int], *, may_ask: Callable[[int], bool]) -> None:
        """Lists all runners that these installations can see. UnavailableError unless all of them respond."""
        for _ in self._listed(installation_ids, may_ask):
            pass

    def remove(
        self, runner: Runner, job: Job | None, *, installation_ids: Sequence[int], may_ask: Callable[[int], bool]
    ) -> bool:
        """False while it is busy. A runner that has registered again has a new id, and is found by its name.

        RegisteredElsewhere if another installation has a registration: the recorded owner may not be the real one.
        """
        listed = list(self._listed(installation_ids, may_ask))
        found = [(scope, each) for scope, each in listed if _is(runner, job, scope, each)]
        if any(each.get("busy") for _, each in found):
            return False
        for scope, _ in found:
            if not _may_own(runner, scope, installation_ids):
                raise RegisteredElsewhere(runner.runner_id, installation_id=scope.installation_id)
        self._ensure_no_other_may_be(runner, [pair for pair in listed if pair not in found], identified=bool(found))
        # The cached lists may be minutes old, and a runner may register once for each job.
        found_in = {scope for scope, _ in found}
        near, far = self._to_list_again(runner, job, installation_ids)
        for scope in sorted((near | far) - found_in, key=lambda each: each.name):
            again = self._list_again(scope, may_ask, is_near=scope in near)
            self._ensure_not_registered(runner, job, scope, again, identified=bool(found))
        if not all(self._delete(scope, int(each["id"])) for scope, each in found):
            return False
        removed = {each["id"] for _, each in found}
        for scope in found_in:
            left = [each for each in self._list_again(scope, may_ask, is_near=True) if each["id"] not in removed]
            self._ensure_not_registered(runner, job, scope, left, identified=True)
        return True

    def _list_again(self, scope: Scope, may_ask: Callable[[int], bool], *, is_near: bool) -> list[Json]:
        """Scopes near the machine are always listed. A recent list of the others is shared with other machines."""
        listed_at, again = self._listed_again.get(scope, (None, []))
        if is_near or listed_at is None or self.clock() - listed_at > FRESH_SECONDS:
            listed_at, fresh = self.clock(), _Cache[Json]()
            again = fresh.get(scope, self._list, partial(may_ask, scope.installation_id))
            self._listed_again[scope] = listed_at, again
        return again

    def _ensure_not_registered(
        self, runner: Runner, job: Job | None, scope: Scope, registered: Sequence[Json], *, identified: bool
    ) -> None:
        """UnavailableError if the machine is, or may be, one of the runners registered in the scope."""
        if any(_is(runner, job, scope, each) for each in registered):
            raise UnavailableError(f"{runner.runner_id} has registered with GitHub again")
        self._ensure_no_other_may_be(runner, [(scope, each) for each in registered], identified=identified)

    def _to_list_again(
        self, runner: Runner, job: Job | None, installation_ids: Sequence[int]
    ) -> tuple[set[Scope], set[Scope]]:
        """Scopes where the machine may have registered since: near are its organisation and repository, far are all
        others, unless the repository of the only installation is known.
        """
        scopes = {
            scope
            for installation_id in installation_ids
            for scope in self._scopes.get(installation_id, self._find_scopes, lambda: True)
        }
        named = {runner.repo_full_name, runner.owner_name, job.repo_full_name if job else None}
        repositories = {name.lower() for name in named if name and "/" in name}
        near = {each for each in scopes if not each.is_repository or each.name.lower() in repositories}
        is_known = len(installation_ids) == 1 and any(each.is_repository for each in near)
        return near, set() if is_known else scopes - near

    def _listed(self, installation_ids: Sequence[int], may_ask: Callable[[int], bool]) -> Iterator[tuple[Scope, Json]]:
        for installation_id in installation_ids:
            may = partial(may_ask, installation_id)
            for scope in self._scopes.get(installation_id, self._find_scopes, may):
                for each in self._runners.get(scope, self._list, may):
                    yield scope, each

    def _ensure_no_other_may_be(
        self, runner: Runner, others: Sequence[tuple[Scope, Json]], *, identified: bool
    ) -> None:
        """A runner whose name contains no known machine's id may be this machine, even beside an identified one.

        If that runner is busy, the machine may be busy. If it is idle and this machine's registration was not found, a
        job may start on it at any moment. An offline runner gets no job.
        """
        unclear = [
            (scope, each)
            for scope, each in others
            if each.get("busy") or (not identified and each.get("status") != OFFLINE)
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

    def _find_scopes(self, installation_id: int) -> list[Scope]:
        described = self.app.find_installation(installation_id)
        if described is None:
            raise UnavailableError(f"installation {installation_id} does not exist, so its runners can't be listed")
        if described.get("suspended_at"):
            raise UnavailableError(f"installation {installation_id} is suspended, so its runners can't be listed")
        if described.get("repository_selection") != "all":
            raise UnavailableError(
                f"installation {installation_id} is limited to selected repositories, "
                "and the runner may belong to another one"
            )
        account = described["account"]
        names = [str(account["login"])] if account.get("type") == ORGANIZATION else []
        names += [str(each["full_name"]) for each in self.app.installation(installation_id).repositories()]
        return [Scope(installation_id=installation_id, name=name) for name in names]

    def _list(self, scope: Scope) -> list[Json]:
        installation = self.app.installation(scope.installation_id)
        listing = installation.repo_runners if scope.is_repository else installation.org_runners
        return _consistent(lambda: list(listing(scope.name)))

    def _delete(self, scope: Scope, runner_id: int) -> bool:
        installation = self.app.installation(scope.installation_id)
        delete = installation.delete_repo_runner if scope.is_repository else installation.delete_org_runner
        try:
            delete(scope.name, runner_id)
        except Refused as refused:
            if refused.status != BUSY:
                raise
            return False
        return True


def _may_own(runner: Runner, scope: Scope, searched: Collection[int]) -> bool:
    """Whether a registration in this scope is consistent with the runner's owner. Without an owner, every one is."""
    if runner.installation_id in (None, scope.installation_id):
        return True
    if runner.installation_id in searched:
        return False
    # The owner's webhooks come from a hook without an App, or the App was installed again.
    return account_of(runner.repo_full_name or "") == account_of(scope.name)


def _is(runner: Runner, job: Job | None, scope: Scope, listed: Json) -> bool:
    """Whether the name contains the machine's id, or name, id and scope are those that GitHub named for its job."""
    name, machine = str(listed.get("name")), runner.runner_id.rpartition("/")[2]
    if names(name, machine):
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


def _consistent(ask: Callable[[], list[Json]]) -> list[Json]:
    """Lists until two lists in a row are the same: a list that changes while its pages are read may miss a runner."""
    listed = ask()
    for _ in range(LISTINGS_AT_MOST):
        if len(listed) < PAGE_SIZE:
            return listed
        before, listed = listed, ask()
        if {each["id"] for each in before} == {each["id"] for each in listed}:
            return listed
    raise UnavailableError("the list of runners changes faster than it can be read")
