"""An API with canned responses, so that tests can use responses that the real one rarely returns."""

import json
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tests.cli.responses import problem
from tests.support.loopback import LoopbackServer, Quiet

TOKEN = "rl_the-token-of-the-tests"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    method: str
    path: str  # with its escapes
    query: dict[str, str] = field(default_factory=dict)
    body: Any = None


@dataclass(frozen=True, slots=True)
class Raw:
    """Any response of a proxy or a wrong address."""

    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)


class CannedApi(LoopbackServer):
    """Returns the responses of each route in turn, and then repeats the last one."""

    def __init__(self) -> None:
        super().__init__(_Handler)
        self.responses: dict[str, list[Any]] = {}
        self.requests: list[Request] = []
        self.authorizations: list[str | None] = []

    def respond(self, route: str, *responses: Any) -> None:
        self.responses[route] = list(responses)


class _Handler(Quiet, BaseHTTPRequestHandler):
    server: CannedApi

    def do_GET(self) -> None:
        self._respond()

    def do_POST(self) -> None:
        self._respond()

    def do_PATCH(self) -> None:
        self._respond()

    def do_DELETE(self) -> None:
        self._respond()

    def _respond(self) -> None:
        parts = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        request = Request(
            method=self.command,
            path=parts.path,
            query=dict(parse_qsl(parts.query)),
            body=json.loads(body) if body else None,
        )
        self.server.requests.append(request)
        self.server.authorizations.append(self.headers["Authorization"])
        self._send(self._chosen(request))

    def _chosen(self, request: Request) -> Any:
        if self.headers["Authorization"] != f"Bearer {TOKEN}":
            return problem(401, "Unauthorized", "This token isn't valid")
        responses = self.server.responses.get(f"{request.method} {request.path.removeprefix('/v1').removeprefix('/')}")
        if not responses:
            return problem(404, "Not Found", f"there is no {request.path}")
        return responses.pop(0) if len(responses) > 1 else responses[0]

    def _send(self, response: Any) -> None:
        if not isinstance(response, Raw):
            status = response["status"] if "title" in response else 202 if self.command == "POST" else 200
            response = Raw(status, json.dumps(response).encode(), {"Content-Type": "application/json"})
        self.send_response(response.status)
        for name, value in (response.headers | {"Content-Length": str(len(response.body))}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(response.body)
