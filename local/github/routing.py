"""Routes in the notation of GitHub's documentation; calls are counted under the same names."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum, auto

from werkzeug.exceptions import HTTPException
from werkzeug.routing import Map, Rule

from local.github.courier import Courier
from local.github.messages import Request, Response, Site, not_found
from local.github.records import Installation
from local.github.state import State


class Needs(Enum):
    """The credentials that a route requires."""

    NOTHING = auto()
    JWT = auto()
    TOKEN = auto()


@dataclass(frozen=True)
class Call:
    """The context of an endpoint."""

    state: State
    courier: Courier
    request: Request
    values: dict[str, str]
    caller: str
    installation: Installation | None = None

    @property
    def site(self) -> Site:
        return self.request.site

    def number(self, name: str) -> int:
        """An id from the path; an id that isn't a number returns 404, as on GitHub."""
        try:
            return int(self.values[name])
        except ValueError:
            raise not_found() from None

    def visible(self, owner: str) -> str:
        """The owner, if the caller's installation has access to it; otherwise 404, as on GitHub."""
        if self.installation is None or self.installation.account.lower() != owner.lower():
            raise not_found()
        return owner

    @property
    def repository(self) -> str:
        return f"{self.visible(self.values['owner'])}/{self.values['repo']}".lower()


Endpoint = Callable[[Call], Response]


@dataclass(frozen=True)
class Route:
    """A method and a path; `free` calls don't count towards the rate limit."""

    method: str
    template: str
    needs: Needs
    free: bool
    endpoint: Endpoint

    @property
    def name(self) -> str:
        return f"{self.method} {self.template}"

    @property
    def rule(self) -> Rule:
        return Rule(self.template.replace("{", "<").replace("}", ">"), methods=[self.method], endpoint=self)


class Routes:
    """A decorator that registers endpoints."""

    def __init__(self, needs: Needs) -> None:
        self._needs = needs
        self.all: list[Route] = []

    def add(self, method: str, template: str, *, free: bool = False) -> Callable[[Endpoint], Endpoint]:
        def register(endpoint: Endpoint) -> Endpoint:
            self.all.append(Route(method, template, self._needs, free, endpoint))
            return endpoint

        return register


class Router:
    def __init__(self, routes: Iterable[Route]) -> None:
        # GitHub doesn't redirect `//`; it returns 404.
        self._urls = Map([route.rule for route in routes], merge_slashes=False).bind("")

    def find(self, method: str, path: str) -> tuple[Route, dict[str, str]] | None:
        """The route and the values of its path parameters."""
        try:
            route, values = self._urls.match(path, method)
        except HTTPException:
            return None
        return route, dict(values)
