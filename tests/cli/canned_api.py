"""An API that answers what it was given: so each answer, also one that the real one rarely gives, can be shown."""

import json
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Self
from urllib.parse import parse_qsl, urlsplit

from tests.cli.answers import problem

TOKEN = "rl_the-token-of-the-tests"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    method: str
    path: str  # as it came, so with its escapes
    query: dict[str, str] = field(default_factory=dict)
    body: Any = None


@dataclass(frozen=True, slots=True)
class Raw:
    """Whatever a proxy or a wrong address may answer."""

    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)


class CannedApi(ThreadingHTTPServer):
    """Gives each route its answers in turn, and the last one from then on."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers: dict[str, list[Any]] = {}
        self.asked: list[Asked] = []
        self.authorizations: list[str | None] = []
        self._thread = Thread(target=self.serve_forever, args=(0.02,))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def says(self, route: str, *answers: Any) -> None:
        self.answers[route] = list(answers)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self._thread.join()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: CannedApi

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def _answer(self) -> None:
        parts = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        asked = Asked(
            method=self.command,
            path=parts.path,
            query=dict(parse_qsl(parts.query)),
            body=json.loads(body) if body else None,
        )
        self.server.asked.append(asked)
        self.server.authorizations.append(self.headers["Authorization"])
        self._send(self._chosen(asked))

    def _chosen(self, asked: Asked) -> Any:
        if self.headers["Authorization"] != f"Bearer {TOKEN}":
            return problem(401, "Unauthorized", "the token is not known")
        answers = self.server.answers.get(f"{asked.method} {asked.path.removeprefix('/v1').removeprefix('/')}")
        if not answers:
            return problem(404, "Not Found", f"there is no {asked.path}")
        return answers.pop(0) if len(answers) > 1 else answers[0]

    def _send(self, answer: Any) -> None:
        if not isinstance(answer, Raw):
            status = answer["status"] if "title" in answer else 202 if self.command == "POST" else 200
            answer = Raw(status, json.dumps(answer).encode(), {"Content-Type": "application/json"})
        self.send_response(answer.status)
        for name, value in (answer.headers | {"Content-Length": str(len(answer.body))}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer.body)

    def log_message(self, *_: object) -> None:
        """Silence: what was asked is in `asked`."""
