"""Requests, responses and errors of endpoints, independent of the HTTP server."""

import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from urllib.parse import parse_qsl, urlsplit

GHES_PREFIX = "/api/v3"
DOCUMENTATION = "https://docs.github.com/rest"


@dataclass(frozen=True)
class Request:
    """A call. `path` is without the prefix of GHES: both kinds of client use the same routes."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes

    @cached_property
    def path(self) -> str:
        return urlsplit(self.target).path.removeprefix(GHES_PREFIX) or "/"

    @cached_property
    def query(self) -> dict[str, str]:
        return dict(parse_qsl(urlsplit(self.target).query))

    @cached_property
    def site(self) -> "Site":
        html = f"http://{self.headers.get('host', '127.0.0.1')}"
        return Site(html=html, api=html + (GHES_PREFIX if self.target.startswith(GHES_PREFIX) else ""))

    def json(self) -> dict[str, Any]:
        try:
            document = json.loads(self.body or b"{}")
        except ValueError:
            raise Refusal(400, "Problems parsing JSON") from None
        if not isinstance(document, dict):
            raise Refusal(400, "Body should be a JSON object")
        return document


@dataclass(frozen=True)
class Site:
    """The base URL that the caller used, for the URLs in the response."""

    html: str
    api: str


@dataclass(frozen=True)
class Response:
    """The result of an endpoint; `document` is None for a response without a body."""

    status: int
    document: Any = None
    headers: dict[str, str] = field(default_factory=dict)

    @cached_property
    def body(self) -> bytes:
        return b"" if self.document is None else json.dumps(self.document).encode()


class Refusal(Exception):
    """An error response in GitHub's format."""

    def __init__(self, status: int, message: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.response = Response(
            status,
            {"message": message, "documentation_url": DOCUMENTATION, "status": str(status)},
            headers or {},
        )


def not_found() -> Refusal:
    return Refusal(404, "Not Found")
