"""Lists of the runners of organisations and repositories, cached during a pass.

A list is complete or it fails: an installation that doesn't exist, is suspended or rejects a request raises an
UnavailableError, because a runner that wasn't listed may be busy. Enterprise runners can't be listed with an
installation's token.
"""

import math
from collections.abc import Callable, Hashable
from dataclasses import field
from functools import partial
from typing import Generic, TypeVar

from runledger.model.dataclass import dataclass
from runledger.model.errors import GitHubRefusal, UnavailableError
from runledger.model.passes import RESERVED

from runledger_github.app import GitHubApp
from runledger_github.calls import Json

PAGE_SIZE = 100
LISTINGS_AT_MOST = 4
ORGANIZATION, ENTERPRISE = "Organization", "Enterprise"
ANY_AGE = math.inf
S = TypeVar("S")
T = TypeVar("T", bound=Hashable)
MayAsk = Callable[[int], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistrationScope:
    """Where runners are registered: an organisation (`acme`) or one repository (`acme/web`)."""

    installation_id: int
    name: str

    @property
    def is_repository(self) -> bool:
        return "/" in self.name


class _Cache(Generic[S]):
    """GitHub's responses, including failures, with the time of each request."""

    def __init__(self) -> None:
        self._responses: dict[Hashable, tuple[float, list[S] | UnavailableError]] = {}

    def clear(self) -> None:
        self._responses.clear()

    def get(
        self, key: T, ask: Callable[[T], list[S]], *, may_ask: Callable[[], bool], now: float, age: float
    ) -> list[S]:
        """Sends the request if there is no response yet, or if the last request is older than `age` seconds."""
        asked_at, response = self._responses.get(key, (-math.inf, None))
        if response is None or now - asked_at > age:
            response = _request(key, ask, may_ask)
            self._responses[key] = now, response
        if isinstance(response, UnavailableError):
            raise response
        return response


def _request(key: T, ask: Callable[[T], list[S]], may_ask: Callable[[], bool]) -> list[S] | UnavailableError:
    if not may_ask():
        raise UnavailableError(RESERVED)
    try:
        return ask(key)
    except UnavailableError as unavailable:
        return unavailable
    except GitHubRefusal as refusal:
        return UnavailableError(f"GitHub refuses the request for a list of runners: {refusal}")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunnerLists:
    """Scopes and their runners. `age` is the maximum age of a cached list, in seconds."""

    app: GitHubApp
    clock: Callable[[], float]
    _scopes: _Cache[RegistrationScope] = field(default_factory=_Cache)
    _runners: _Cache[Json] = field(default_factory=_Cache)

    def clear(self) -> None:
        self._scopes.clear()
        self._runners.clear()

    def scopes(self, installation_id: int, may_ask: MayAsk, *, age: float = ANY_AGE) -> list[RegistrationScope]:
        may = partial(may_ask, installation_id)
        return self._scopes.get(installation_id, self._find_scopes, may_ask=may, now=self.clock(), age=age)

    def runners(self, scope: RegistrationScope, may_ask: MayAsk, *, age: float = ANY_AGE) -> list[Json]:
        may = partial(may_ask, scope.installation_id)
        return self._runners.get(scope, self._list, may_ask=may, now=self.clock(), age=age)

    def _find_scopes(self, installation_id: int) -> list[RegistrationScope]:
        described = self.app.find_installation(installation_id)
        if described is None:
            raise UnavailableError(f"installation {installation_id} does not exist, so its runners can't be listed")
        if described.get("suspended_at"):
            raise UnavailableError(f"installation {installation_id} is suspended, so its runners can't be listed")
        if described.get("target_type") == ENTERPRISE:
            raise UnavailableError(
                f"installation {installation_id} belongs to an enterprise, so its runners can't be listed"
            )
        if described.get("repository_selection") != "all":
            raise UnavailableError(
                f"installation {installation_id} is limited to selected repositories, "
                "and the runner may belong to another one"
            )
        account = described["account"]
        names = [str(account["login"])] if account.get("type") == ORGANIZATION else []
        names += [str(each["full_name"]) for each in self.app.installation(installation_id).repositories()]
        return [RegistrationScope(installation_id=installation_id, name=name) for name in names]

    def _list(self, scope: RegistrationScope) -> list[Json]:
        installation = self.app.installation(scope.installation_id)
        listing = installation.repo_runners if scope.is_repository else installation.org_runners
        return _consistent(lambda: list(listing(scope.name)))


def _consistent(ask: Callable[[], list[Json]]) -> list[Json]:
    """Requests the list until it is the same twice in a row: a list that changes while it is read may miss a runner."""
    listed = ask()
    for _ in range(LISTINGS_AT_MOST):
        if len(listed) < PAGE_SIZE:
            return listed
        before, listed = listed, ask()
        if {each["id"] for each in before} == {each["id"] for each in listed}:
            return listed
    raise UnavailableError("the list of runners changes faster than it can be read")
