"""Runners as GitHub lists them: found wherever they may be registered, and removed, so that no job can begin on them.

The search is complete or it fails: an installation that is unknown, suspended or refuses an answer raises an
UnavailableError, because a runner that was not looked for may be busy. Runners of an enterprise cannot be listed with
an installation's token.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from runledger.errors import UnavailableError
from runledger.machines import Runner
from runledger.model import Job
from runledger.runner_names import instance_id_in, task_id_in

from runledger_github.app import GitHubApp
from runledger_github.errors import GitHubRefusal, Refused
from runledger_github.messages import Json

BUSY = 422
ORGANIZATION = "Organization"
# Lists are shared by all machines of a pass. A machine is judged only long after it should have registered, and GitHub
# itself refuses to remove a runner that has become busy since.
FRESH_SECONDS = 120

S = TypeVar("S")
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Where runners are registered: an organisation (`acme`) or one repository (`acme/web`)."""

    installation_id: int
    name: str

    @property
    def is_repository(self) -> bool:
        return "/" in self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Registrations:
    app: GitHubApp
    clock: Callable[[], float]
    _scopes: dict[int, tuple[float, list[Scope]]] = field(default_factory=dict)
    _runners: dict[Scope, tuple[float, list[Json]]] = field(default_factory=dict)

    def remove(self, runner: Runner, job: Job | None, *, installation_ids: Sequence[int]) -> bool:
        """False while it is busy. Searched by name as well as by its last id: it may have registered again."""
        listed = list(self._listed(installation_ids))
        found = [(scope, each) for scope, each in listed if _is(runner, job, each)]
        if any(each.get("busy") for _, each in found):
            return False
        if not found:
            _ensure_none_may_be(runner, [each for _, each in listed])
        return all(self._delete(scope, int(each["id"])) for scope, each in found)

    def _listed(self, installation_ids: Sequence[int]) -> Iterator[tuple[Scope, Json]]:
        for installation_id in installation_ids:
            scopes = self._fresh(self._scopes, installation_id, self._find_scopes)
            for scope in scopes:
                for each in self._fresh(self._runners, scope, self._list):
                    yield scope, each

    def _find_scopes(self, installation_id: int) -> list[Scope]:
        described = self.app.find_installation(installation_id)
        if described is None:
            raise UnavailableError(f"installation {installation_id} does not exist, so its runners cannot be listed")
        if described.get("suspended_at"):
            raise UnavailableError(f"installation {installation_id} is suspended, so its runners cannot be listed")
        account = described["account"]
        names = [str(account["login"])] if account.get("type") == ORGANIZATION else []
        names += [str(each["full_name"]) for each in self.app.installation(installation_id).repositories()]
        return [Scope(installation_id=installation_id, name=name) for name in names]

    def _list(self, scope: Scope) -> list[Json]:
        installation = self.app.installation(scope.installation_id)
        listing = installation.repo_runners if scope.is_repository else installation.org_runners
        return list(listing(scope.name))

    def _fresh(self, kept: dict[T, tuple[float, list[S]]], key: T, ask: Callable[[T], list[S]]) -> list[S]:
        asked_at, answer = kept.get(key, (float("-inf"), []))
        if self.clock() - asked_at > FRESH_SECONDS:
            try:
                answer = ask(key)
            except GitHubRefusal as refusal:
                raise UnavailableError(f"GitHub cannot list all runners: {refusal}") from refusal
            kept[key] = (self.clock(), answer)
        return answer

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


def _is(runner: Runner, job: Job | None, listed: Json) -> bool:
    name, machine = str(listed.get("name")), runner.runner_id.rpartition("/")[2]
    if re.search(rf"{re.escape(machine)}(?![0-9a-zA-Z])", name):
        return True
    return job is not None and name == job.runner_name and listed.get("id") == job.runner_id


def _ensure_none_may_be(runner: Runner, listed: Sequence[Json]) -> None:
    """A busy runner whose name contains no machine id may be this one."""
    for each in listed:
        name = str(each.get("name"))
        if each.get("busy") and not (instance_id_in(name) or task_id_in(name)):
            raise UnavailableError(f"{name} is busy, and may be {runner.runner_id}: its name contains no machine id")
