"""Client of the simulated GitHub's control API, `/_simulation`."""

from __future__ import annotations

import http.client
import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from local.github.records import COLLECTIONS
from local.processes import LocalError

if TYPE_CHECKING:
    from local.github.records import Record

# Exceeds the time that the simulation waits for a webhook receiver.
_TIMEOUT_SECONDS = 60
_COLLECTION_OF = {record: collection for collection, record in COLLECTIONS.items()}


class Control:
    def __init__(self, github_api_url: str) -> None:
        self._netloc = urlsplit(github_api_url).netloc

    def configure(self, **settings: Any) -> None:
        self._call("PUT", "settings", settings)

    def put(self, record: Record) -> None:
        values = asdict(record)
        self._call("PUT", f"{_COLLECTION_OF[type(record)]}/{values.pop('id')}", values)

    def send(self, event: str, payload: dict[str, Any], guid: str) -> dict[str, Any]:
        """Return the row of the delivery log."""
        row: dict[str, Any] = self._call("POST", "webhooks", {"event": event, "payload": payload, "guid": guid})
        return row

    def lose(self, guid: str) -> None:
        """Make this delivery time out; GitHub's delivery log records it."""
        self._call("POST", "faults", {"kind": "lost_delivery", "path": guid})

    def deliveries(self) -> list[dict[str, Any]]:
        """The whole log, newest first, after all pending redeliveries have been sent."""
        rows: list[dict[str, Any]] = self._call("GET", "deliveries")
        return rows

    def calls(self) -> dict[str, dict[str, int]]:
        """The number of calls by route and status."""
        counts: dict[str, dict[str, int]] = self._call("GET", "calls")
        return counts

    def _call(self, method: str, path: str, content: dict[str, Any] | None = None) -> Any:
        connection = http.client.HTTPConnection(self._netloc, timeout=_TIMEOUT_SECONDS)
        try:
            connection.request(
                method, f"/_simulation/{path}", body=json.dumps(content) if content is not None else None
            )
            response = connection.getresponse()
            body = response.read()
        finally:
            connection.close()
        if response.status >= 400:
            raise LocalError(f"the simulated GitHub returned {response.status} to {method} {path}: {body.decode()}")
        return json.loads(body)
