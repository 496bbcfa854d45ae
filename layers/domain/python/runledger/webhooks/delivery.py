"""A webhook delivery from GitHub, as received."""

import hashlib

from runledger.model import payload
from runledger.model.dataclass import dataclass
from runledger.model.payload import Json
from runledger.model.reports import NO_INSTALLATION


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """The headers that are used, the body, and when and by which function it was received."""

    event: str
    delivery_id: str
    body: bytes
    received_at: str
    received_by: str | None = None
    host: str | None = None  # of an Enterprise Server

    @property
    def body_digest(self) -> str:
        """Identifies a delivery by its signed part: headers, including the delivery id, aren't signed."""
        return hashlib.sha256(self.body).hexdigest()


def installation_id(message: Json) -> int:
    if message.get("installation") is None:
        return NO_INSTALLATION
    return payload.identifier(payload.section(message, "installation"), "installation.id")
