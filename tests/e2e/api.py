"""Requests to the deployed API with a token."""

import json
import urllib.error
import urllib.request
from dataclasses import dataclass
from email.message import Message
from typing import Any
from urllib.parse import urlencode

from local.aws.outputs import Outputs


@dataclass(frozen=True, kw_only=True)
class Response:
    status: int
    headers: Message
    body: Any


def call(outputs: Outputs, path: str, *, method: str = "GET", body: object = None, **query: object) -> Response:
    given = urlencode({name: value for name, value in query.items() if value is not None})
    request = urllib.request.Request(
        f"{outputs.api_url}{path}{'?' + given if given else ''}",
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {outputs.admin_token}", "Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return Response(status=response.status, headers=response.headers, body=_read(response.read()))
    except urllib.error.HTTPError as error:
        with error:
            return Response(status=error.code, headers=error.headers, body=_read(error.read()))


def _read(content: bytes) -> Any:
    try:
        return json.loads(content)
    except ValueError:
        return content.decode()
