"""Requests to the API of a deployment."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from local.processes import LocalError

if TYPE_CHECKING:
    from local.aws.outputs import Outputs

# The first request may have to start the function on a busy machine.
_TIMEOUT_SECONDS = 60
_NOT_FOUND = 404


class Api:
    """Paths are given in parts, because names of packages contain slashes."""

    def __init__(self, outputs: Outputs, installation_id: int) -> None:
        self._address = f"{outputs.api_url}/v1/installations/{installation_id}"
        self._token = outputs.admin_token

    def get(self, *path: str, **query: object) -> Any:
        """None if it doesn't exist."""
        return self._call("GET", path, query=query)

    def put(self, *path: str, **body: object) -> Any:
        return self._call("PUT", path, body=body)

    def _call(
        self, method: str, path: tuple[str, ...], *, query: dict[str, object] | None = None, body: object = None
    ) -> Any:
        named = "/".join(quote(part, safe="") for part in path)
        request = urllib.request.Request(
            f"{self._address}/{named}{'?' + urlencode(query) if query else ''}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            with error:
                if method == "GET" and error.code == _NOT_FOUND:
                    return None
                raise LocalError(
                    f"the API returned {error.code} to {method} {named}: {error.read().decode()}"
                ) from None
