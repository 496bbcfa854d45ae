"""Where a list goes on: opaque, signed, and of use only to the same question of a caller with the same scope."""

import base64
import hashlib
import hmac
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from runledger.tables.pages import Key

from runledger_api.refusals import BadParameter

MAC_BYTES = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """The last key, and the range as it was when the list began: `since=24h` must not move while it is walked."""

    key: Key
    since: str | None = None
    until: str | None = None


class Cursors:
    def __init__(self, key: Callable[[], bytes]) -> None:
        self._key = key

    def write(self, position: Position, *, bound_to: Any) -> str:
        said = _compact(asdict(position))
        return base64.urlsafe_b64encode(self._mac(said, bound_to) + said).decode().rstrip("=")

    def read(self, cursor: str, *, bound_to: Any) -> Position:
        try:
            sealed = base64.urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4))
        except ValueError:
            sealed = b""
        mac, said = sealed[:MAC_BYTES], sealed[MAC_BYTES:]
        if not hmac.compare_digest(mac, self._mac(said, bound_to)):
            raise BadParameter("cursor", "is not one that was given for this list: start again without it")
        return Position(**json.loads(said))

    def _mac(self, said: bytes, bound_to: Any) -> bytes:
        # The length keeps apart what is bound to and what is said.
        bound = _compact(bound_to)
        signed = len(bound).to_bytes(4, "big") + bound + said
        return hmac.new(self._key(), signed, hashlib.sha256).digest()[:MAC_BYTES]


def _compact(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), sort_keys=True).encode()
