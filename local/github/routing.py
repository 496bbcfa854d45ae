"""Routes in the notation of GitHub's documentation; calls are counted under the same names."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum, auto
from functools import cached_property

from local.github.courier import Courier
from local.github.messages import Answer, Request, Site, not_found
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


Endpoint = Callable[[Call], Answer]


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

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", self.template))

    def match(self, method: str, path: str) -> dict[str, str] | None:
        found = self._pattern.fullmatch(path) if method == self.method else None
        return found.groupdict() if found else None


class Routes:
    """A decorator that registers endpoints."""

    def __init__(self, needs: Needs, *, free: bool = False) -> None:
        self._needs = needs
        self._free = free
        self.all: list[Route] = []

    def add(self, method: str, template: str) -> Callable[[Endpoint], Endpoint]:
        def register(endpoint: Endpoint) -> Endpoint:
            self.all.append(Route(method, template, self._needs, self._free, endpoint))
            return endpoint

        return register


def find(routes: Iterable[Route], method: str, path: str) -> tuple[Route, dict[str, str]] | None:
    for route in routes:
        values = route.match(method, path)
        if values is not None:
            return route, values
    return None
