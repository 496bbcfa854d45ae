"""Pagination cursors: opaque, signed, and valid only for the same list and a caller with the same scope."""

import base64
import hashlib
import hmac
import json
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from runledger.model.dataclass import dataclass
from runledger.tables.pages import Key

from runledger_api.errors import InvalidParameter

MAC_BYTES = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """The last key, and the time range of the first page: `since=24h` must not move from page to page."""

    key: Key
    since: str | None = None
    until: str | None = None


class Cursors:
    def __init__(self, key: Callable[[], bytes]) -> None:
        self._key = key

    def write(self, position: Position, *, bound_to: Any) -> str:
        payload = _compact(asdict(position))
        return base64.urlsafe_b64encode(self._mac(payload, bound_to) + payload).decode().rstrip("=")

    def read(self, cursor: str, *, bound_to: Any) -> Position:
        try:
            decoded = base64.urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4))
        except ValueError:
            decoded = b""
        mac, payload = decoded[:MAC_BYTES], decoded[MAC_BYTES:]
        if not hmac.compare_digest(mac, self._mac(payload, bound_to)):
            raise InvalidParameter("cursor", "isn't valid for this list: request the first page without a cursor")
        return Position(**json.loads(payload))

    def _mac(self, payload: bytes, bound_to: Any) -> bytes:
        # The length prefix separates the scope from the payload, so that bytes can't move between them.
        bound = _compact(bound_to)
        signed = len(bound).to_bytes(4, "big") + bound + payload
        return hmac.new(self._key(), signed, hashlib.sha256).digest()[:MAC_BYTES]


def _compact(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), sort_keys=True).encode()
