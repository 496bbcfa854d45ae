"""A simulated GitHub that records each call and checks it against GitHub's OpenAPI document."""

from dataclasses import dataclass
from pathlib import Path

from local.github import SimulatedGitHub
from local.github.endpoints import GITHUB
from local.github.messages import Request, Response
from local.github.state import Clock
from tests.local import github_openapi

TOKENS = "/access_tokens"
EVERY_CALL = {
    "accept": "application/vnd.github+json",
    "x-github-api-version": "2022-11-28",
    "user-agent": "runledger",
}


@dataclass(frozen=True)
class Exchange:
    request: Request
    response: Response


class RecordedGitHub(SimulatedGitHub):
    def __init__(self, *, clock: Clock, key_file: Path) -> None:
        super().__init__(clock=clock, key_file=key_file)
        self.requests: list[Request] = []
        self.exchanges: list[Exchange] = []

    @property
    def calls(self) -> list[str]:
        """Method and target of every call but those for tokens."""
        return [f"{one.method} {one.target}" for one in self.requests if not one.path.endswith(TOKENS)]

    @property
    def statuses(self) -> list[int]:
        return [one.response.status for one in self.exchanges if not one.request.path.endswith(TOKENS)]

    @property
    def tokens_issued(self) -> int:
        return sum(one.request.path.endswith(TOKENS) for one in self.exchanges)

    @property
    def bearers(self) -> set[str]:
        return {one.headers["authorization"].removeprefix("Bearer ") for one in self.requests}

    def judge(self) -> None:
        """Fails unless GitHub's OpenAPI document has every call, and every successful response matches it."""
        for exchange in self.exchanges:
            _judge(exchange.request, exchange.response)

    def _respond(self, request: Request) -> Response:
        self.requests.append(request)
        response = super()._respond(request)
        self.exchanges.append(Exchange(request, response))
        return response


def _judge(request: Request, response: Response) -> None:
    assert EVERY_CALL.items() <= request.headers.items()
    found = GITHUB.find(request.method, request.path)
    assert found is not None, f"GitHub has no {request.method} {request.path}"
    route = found[0]
    described = github_openapi.openapi()["paths"][route.template][request.method.lower()]
    assert request.query.keys() <= {_parameter(one)["name"] for one in described["parameters"]}
    if response.status < 300 and response.document is not None:
        github_openapi.validate(route.name, response.status, response.document)


def _parameter(described: dict[str, str]) -> dict[str, str]:
    """Parameters that many routes share are described once, under a name."""
    if "$ref" not in described:
        return described
    shared: dict[str, dict[str, str]] = github_openapi.openapi()["components"]["parameters"]
    return shared[described["$ref"].rpartition("/")[2]]
