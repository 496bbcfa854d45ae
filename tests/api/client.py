"""Requests to the real handler, in API Gateway's payload format 2.0."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlencode

TOKENS = {"operator": "a-token-of-an-operator", "reader": "a-token-of-a-reader", "scoped": "a-token-for-one"}
NOON = "2025-01-15T12:00:00.000Z"
NOON_EPOCH_MS = 1_736_942_400_000


@dataclass(frozen=True, kw_only=True)
class Response:
    status: int
    headers: Mapping[str, str]
    body: Any

    @property
    def units(self) -> float:
        return float(self.headers["X-Read-Units"])


@dataclass(frozen=True, kw_only=True)
class Client:
    handler: Callable[[dict[str, Any], Any], dict[str, Any]]
    token: str | None = TOKENS["operator"]
    now_ms: int = NOON_EPOCH_MS

    def with_token(self, token: str | None) -> "Client":
        return replace(self, token=token)

    def get(self, path: str, **query: object) -> Response:
        return self.request("GET", path, query=query)

    def post(self, path: str, body: object = None) -> Response:
        return self.request("POST", path, body=None if body is None else json.dumps(body))

    def request(
        self, method: str, path: str, *, query: Mapping[str, object] | None = None, **event: object
    ) -> Response:
        given = {name: str(value) for name, value in (query or {}).items() if value is not None}
        headers = {"authorization": f"Bearer {self.token}"} if self.token is not None else {}
        response = self.handler(
            {
                "version": "2.0",
                "routeKey": "ANY /{proxy+}",
                "rawPath": path,
                "rawQueryString": urlencode(given),
                **({"queryStringParameters": given} if given else {}),
                "headers": headers,
                "requestContext": {
                    "http": {"method": method, "path": path},
                    "stage": "$default",
                    "requestId": "a-request",
                    "timeEpoch": self.now_ms,
                },
                "isBase64Encoded": False,
                **event,
            },
            SimpleNamespace(aws_request_id="a-request"),
        )
        body = response["body"]
        if "json" in response["headers"].get("Content-Type", ""):
            body = json.loads(body)
        return Response(status=response["statusCode"], headers=response["headers"], body=body)


def stored(*, scoped_to: list[int] | str = "*") -> dict[str, Any]:
    """The secret, as an operator would write it."""
    entries = [
        {"name": "olga", "role": "operator", "sha256": _sha256("operator"), "installations": "*"},
        {"name": "rita", "role": "reader", "sha256": _sha256("reader"), "installations": "*"},
        {"name": "sven", "role": "operator", "sha256": _sha256("scoped"), "installations": scoped_to},
    ]
    return {"tokens": entries, "cursor_key": "a-key-of-the-tests"}


def _sha256(role: str) -> str:
    return hashlib.sha256(TOKENS[role].encode()).hexdigest()
