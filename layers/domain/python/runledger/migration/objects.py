"""Reads a stored webhook as live intake would have received it. Pure."""

import zlib
from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from urllib.parse import urlsplit

from runledger.model import payload, times
from runledger.model.addresses import is_loopback
from runledger.model.dataclass import dataclass
from runledger.model.errors import Malformed
from runledger.model.inputs import Receipt
from runledger.model.reports import REDELIVERY_DAYS
from runledger.webhooks.delivery import Delivery
from runledger.webhooks.readers.jobs import read_job

# A hundred times a typical webhook, and twice the limit of `copies`. Parsing hostile JSON takes 30 times its size in
# memory, and several threads parse at the same time.
LARGEST_BODY = 1_000_000
GZIP = b"\x1f\x8b"
GZIP_WINDOW = zlib.MAX_WBITS | 16
ID_LENGTH = 32
REDELIVERY_MS = REDELIVERY_DAYS * 24 * times.MS_PER_HOUR


class Skipped(StrEnum):
    """Why a readable object isn't imported."""

    OTHER_EVENTS = "other_events"
    OTHER_INSTALLATIONS = "other_installations"
    OTHER_HOSTS = "other_hosts"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredWebhook:
    """An object: as it is listed, and, once it is read, with its metadata. `key` is relative to the source."""

    key: str
    size: int
    modified_at: str
    archived: bool = False
    installation_id: str | None = None
    job_id: str | None = None
    delivery_id: str | None = None
    received_at: str | None = None
    received_by: str | None = None

    @property
    def job(self) -> tuple[str | None, str]:
        """The same for all webhooks of one job. A key without a job id counts as a separate job."""
        return (self.installation_id, self.job_id) if self.job_id else (None, self.key)


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """`installations` maps old ids to new ones. `only` is a new id: other installations are skipped."""

    host: str
    installations: Mapping[int, int]
    only: int | None = None


def receipt_of(stored: StoredWebhook, body: bytes, selection: Selection) -> Receipt | Skipped:
    """Raises Rejection if it isn't a webhook."""
    check_size(len(body))
    body = gunzip(body) if body.startswith(GZIP) else body
    message = payload.parse(body)
    if "workflow_job" not in message:
        return Skipped.OTHER_EVENTS
    if not _is_of_host(message, selection.host):
        return Skipped.OTHER_HOSTS
    delivery = Delivery(
        event="workflow_job",
        delivery_id=stored.delivery_id or "",
        body=body,
        received_at=stored.received_at or stored.modified_at,
        received_by=stored.received_by,
    )
    if not stored.delivery_id:
        # Every copy of the object has the same id, and no other webhook has it.
        delivery = replace(delivery, delivery_id=f"imported-{delivery.body_digest[:ID_LENGTH]}")
    found = read_job(message, delivery)
    if not found:
        return Skipped.OTHER_EVENTS
    receipt = found[0]
    _check_key(stored, receipt)
    if not stored.received_at:
        receipt = replace(receipt, received_at=_received_at(receipt, stored.modified_at))
    receipt = replace(
        receipt, installation_id=selection.installations.get(receipt.installation_id, receipt.installation_id)
    )
    if selection.only not in (None, receipt.installation_id):
        return Skipped.OTHER_INSTALLATIONS
    return receipt


def _check_key(stored: StoredWebhook, receipt: Receipt) -> None:
    """A tool that can write only to the folder of one installation must not report jobs of another installation."""
    for name, in_key, in_body in (
        ("installation", stored.installation_id, receipt.installation_id),
        ("job", stored.job_id, receipt.job_id),
    ):
        if in_key is not None and int(in_key) != in_body:
            raise Malformed("body", f"belongs to {name} {in_body}, but the key names {name} {in_key}")


def check_size(size: int) -> None:
    if size > LARGEST_BODY:
        raise Malformed("body", f"has {size:,} bytes; the limit is {LARGEST_BODY:,}")


def gunzip(body: bytes) -> bytes:
    """Stops at the size limit of a webhook."""
    unpacking = zlib.decompressobj(GZIP_WINDOW)
    try:
        unpacked = unpacking.decompress(body, LARGEST_BODY + 1)
    except zlib.error:
        raise Malformed("body", "is corrupt gzip data") from None
    check_size(len(unpacked))
    if not unpacking.eof:
        raise Malformed("body", "is incomplete gzip data")
    return unpacked


def _received_at(receipt: Receipt, modified_at: str) -> str:
    """GitHub redelivers a webhook for three days. If the object was modified later, it is a copy with a newer time."""
    facts = receipt.facts
    reported = max(filter(None, (facts.created_at, facts.started_at, facts.completed_at)), default=modified_at)
    return reported if times.ms_between(reported, modified_at) > REDELIVERY_MS else modified_at


def _is_of_host(message: payload.Json, served: str) -> bool:
    """Compares the host of the repository's URL, if there is one. A deployment for the simulated GitHub imports all."""
    address = payload.text(payload.optional_section(message, "repository"), "html_url")
    try:
        named = urlsplit(address).hostname if address else None
    except ValueError:
        return False
    return named is None or named == served or is_loopback(served)
