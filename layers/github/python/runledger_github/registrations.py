"""Runners as GitHub knows them: whether one is busy, and taking it away so that it is given no job any more."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from runledger.deliveries import NO_INSTALLATION
from runledger.errors import UnavailableError
from runledger.model import Job
from runledger.runner_names import instance_id_in, task_id_in
from runledger.tables.runners import Runner

from runledger_github.app import GitHubApp
from runledger_github.errors import NotFound, Refused
from runledger_github.messages import Json

BUSY = 422
FRESH_SECONDS = 30


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
    """`elsewhere` tells where a runner may be of which nobody knows whose it is."""

    app: GitHubApp
    elsewhere: Callable[[], Iterable[tuple[int, str]]]
    clock: Callable[[], float]
    _listed: dict[Scope, tuple[float, list[Json]]] = field(default_factory=dict)

    def remove(self, runner: Runner, job: Job | None) -> bool:
        """False while it is busy. Its names are looked for as well as its last id: it may have registered again."""
        scopes = list(self._scopes(runner))
        found = [(scope, each) for scope in scopes for each in self._list(scope) if _is(runner, job, each)]
        if any(each.get("busy") for _, each in found):
            return False
        ids = {(scope, int(each["id"])) for scope, each in found}
        if job is not None and job.runner_id:
            ids |= {(scope, job.runner_id) for scope in scopes}
        if not ids:
            self._be_sure(runner, scopes)
        return all(self._delete(scope, runner_id) for scope, runner_id in sorted(ids, key=str))

    def _be_sure(self, runner: Runner, scopes: Iterable[Scope]) -> None:
        """A busy runner whose name tells no machine may be this one."""
        for scope in scopes:
            for each in self._list(scope):
                name = str(each.get("name"))
                if each.get("busy") and not (instance_id_in(name) or task_id_in(name)):
                    raise UnavailableError(f"{name} is busy, and may be {runner.runner_id}: its name does not tell")

    def _scopes(self, runner: Runner) -> Iterator[Scope]:
        if runner.installation_id == NO_INSTALLATION:
            raise UnavailableError(f"runner {runner.runner_id} belongs to no installation that could be asked")
        if runner.installation_id is not None and runner.repo_full_name:
            owner = runner.repo_full_name.partition("/")[0]
            known = ((runner.installation_id, owner), (runner.installation_id, runner.repo_full_name))
            yield from (Scope(installation_id=each, name=name) for each, name in known)
        else:
            yield from (Scope(installation_id=each, name=name) for each, name in self.elsewhere())

    def _list(self, scope: Scope) -> list[Json]:
        listed_at, runners = self._listed.get(scope, (float("-inf"), []))
        if self.clock() - listed_at > FRESH_SECONDS:
            installation = self.app.installation(scope.installation_id)
            listing = installation.repo_runners if scope.is_repository else installation.org_runners
            try:
                runners = list(listing(scope.name))
            except NotFound:
                runners = []  # a person's account has no runners of its own
            self._listed[scope] = (self.clock(), runners)
        return runners

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
    name = str(listed.get("name"))
    return runner.runner_id.rpartition("/")[2] in name or (job is not None and name == job.runner_name)
