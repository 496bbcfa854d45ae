"""A client of the simulated GitHub that checks each successful response against GitHub's OpenAPI document."""

import base64
import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from http.client import HTTPConnection
from typing import Any

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from local.github import SimulatedGitHub
from local.github.credentials import APP_ID
from local.github.endpoints import GITHUB
from tests.local.github_openapi import validate


class ManualClock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.now = datetime(2025, 1, 15, 10, 0, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **by: float) -> None:
        self.now += timedelta(**by)


@dataclass(frozen=True)
class Reply:
    status: int
    headers: dict[str, str]
    document: Any

    @property
    def next_page(self) -> str | None:
        for part in self.headers.get("link", "").split(", "):
            if part.endswith('rel="next"'):
                return part[1 : part.index(">")]
        return None


@dataclass
class Client:
    """Calls with one credential; `as_app` and `as_installation` make others."""

    github: SimulatedGitHub
    credential: str = ""
    timeout: float = 10

    def as_app(self, **claims: Any) -> "Client":
        return Client(self.github, jwt(self.github, **claims))

    def as_installation(self, installation_id: int) -> "Client":
        reply = self.as_app().post(f"/app/installations/{installation_id}/access_tokens")
        return Client(self.github, reply.document["token"])

    def get(self, path: str, **headers: str) -> Reply:
        return self.call("GET", path, headers=headers)

    def post(self, path: str, /, **body: Any) -> Reply:
        return self.call("POST", path, body)

    def put(self, path: str, /, **body: Any) -> Reply:
        return self.call("PUT", path, body)

    def delete(self, path: str) -> Reply:
        return self.call("DELETE", path)

    def call(
        self, method: str, path: str, body: dict[str, Any] | None = None, headers: dict[str, str] | None = None
    ) -> Reply:
        """Takes a path or an address from a Link header."""
        path = path.removeprefix(self.github.url)
        connection = HTTPConnection(self.github.url.removeprefix("http://"), timeout=self.timeout)
        try:
            credentials = {"Authorization": f"Bearer {self.credential}"} if self.credential else {}
            connection.request(method, path, json.dumps(body or {}), credentials | (headers or {}))
            response = connection.getresponse()
            content = response.read()
        finally:
            connection.close()
        reply = Reply(
            response.status,
            {name.lower(): value for name, value in response.getheaders()},
            json.loads(content) if content else None,
        )
        _judge(method, path, reply)
        return reply


def _judge(method: str, path: str, reply: Reply) -> None:
    route = GITHUB.find(method, path.partition("?")[0].removeprefix("/api/v3"))
    if route is None:
        return
    assert {"x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-used", "x-ratelimit-reset"} <= set(reply.headers)
    if reply.status >= 400:
        assert set(reply.document) == {"message", "documentation_url", "status"}
    elif reply.document is not None:
        validate(route[0].name, reply.status, reply.document)


def jwt(github: SimulatedGitHub, *, key: str | None = None, algorithm: str = "RS256", **claims: Any) -> str:
    """A good App JWT, but for the claims that a test replaces."""
    now = int(github.state.now().timestamp())
    claims = {"iat": now - 60, "exp": now + 540, "iss": str(APP_ID)} | claims
    signed = f"{_encoded({'alg': algorithm, 'typ': 'JWT'})}.{_encoded(claims)}"
    private_key = _loaded(key or github.state.credentials.private_key)
    signature = private_key.sign(signed.encode(), padding.PKCS1v15(), hashes.SHA256())
    return f"{signed}.{_base64(signature)}"


@cache
def _loaded(key: str) -> rsa.RSAPrivateKey:
    private_key = serialization.load_pem_private_key(key.encode(), None)
    assert isinstance(private_key, rsa.RSAPrivateKey)
    return private_key


def _encoded(part: dict[str, Any]) -> str:
    return _base64(json.dumps(part).encode())


def _base64(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()
