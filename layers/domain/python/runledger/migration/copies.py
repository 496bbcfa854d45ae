"""Copies of webhooks in S3, in the phases `dual_write` and `dynamodb_first`.

    intake: record in the ledger ── put the object
                                        │ S3 is unavailable, rejects it, or didn't respond a moment ago
                                        └── retry queue ── webhook_retry: put the object; after all retries: dead letter

A failed copy never fails the webhook, which the ledger has already recorded or queued. A webhook that the ledger
already had, such as a redelivery or a replay, is stored only if its object is missing. It replaces no object.
"""

import base64
import gzip
import json
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any
from urllib.parse import quote, unquote

from botocore.exceptions import BotoCoreError, ClientError

from runledger.migration import telemetry
from runledger.migration.key_pattern import KeyPattern
from runledger.migration.objects import gunzip
from runledger.model import message_format, payload
from runledger.model.dataclass import dataclass
from runledger.model.errors import Malformed, UnavailableError
from runledger.model.inputs import Receipt
from runledger.platform import logs
from runledger.webhooks.delivery import Delivery
from runledger.webhooks.intake import IntakeResult
from runledger.webhooks.retry_queue import COPY, RetryQueue

# In bytes: 60 times a typical job webhook. If S3 is unavailable, the body must fit into an SQS message, in base64.
LARGEST_COPY = 512 * 1024
EXISTS = "PreconditionFailed"
FIRST_RECEIPT = {IntakeResult.RECORDED, IntakeResult.DEFERRED}
JSON_TYPE = "application/json"
PAUSE_SECONDS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookCopy:
    """One object: the body as it was received, and metadata from its headers and its receipt."""

    key: str
    body: bytes
    delivery_id: str
    received_at: str
    received_by: str | None = None
    if_absent: bool = False

    @property
    def metadata(self) -> dict[str, str]:
        """Percent-encoded, because S3 sends metadata as headers, which are ASCII."""
        values = {"delivery-id": self.delivery_id, "received-at": self.received_at, "received-by": self.received_by}
        return {name: quote(value) for name, value in values.items() if value is not None}


def from_metadata(metadata: dict[str, str]) -> dict[str, str]:
    """Reverses the encoding of `WebhookCopy.metadata`."""
    return {name.lower(): unquote(value) for name, value in metadata.items()}


class WebhookCopies:
    def __init__(self, client: Any, bucket: str) -> None:
        self._client = client
        self._bucket = bucket

    def put(self, copy: WebhookCopy) -> None:
        condition = {"IfNoneMatch": "*"} if copy.if_absent else {}
        try:
            self._client.put_object(
                Bucket=self._bucket,
                Key=copy.key,
                Body=copy.body,
                ContentType=JSON_TYPE,
                Metadata=copy.metadata,
                **condition,
            )
        except ClientError as error:
            if error.response["Error"]["Code"] != EXISTS:
                raise


class Pause:
    """After a request without a response, S3 isn't called for a while. Otherwise, every webhook would wait for it."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._until = 0.0

    def begin(self) -> None:
        self._until = self._clock() + PAUSE_SECONDS

    @property
    def is_over(self) -> bool:
        return self._clock() >= self._until


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyWebhook:
    """Called by intake for each job webhook that was recorded, now or before."""

    copies: WebhookCopies
    pattern: KeyPattern
    retries: RetryQueue
    pause: Pause

    def __call__(self, delivery: Delivery, receipt: Receipt, result: IntakeResult) -> None:
        is_first = result in FIRST_RECEIPT
        if not is_first and "delivery_id" in self.pattern.fields:
            return  # each replay has a new delivery id, and would add another object
        copy = WebhookCopy(
            key=self.pattern.key(receipt),
            body=delivery.body,
            delivery_id=delivery.delivery_id,
            received_at=delivery.received_at,
            received_by=delivery.received_by,
            if_absent=not is_first,
        )
        if len(copy.body) > LARGEST_COPY:
            telemetry.copy_lost(copy.key, f"the webhook has more than {LARGEST_COPY:,} bytes")
            return
        if not self.pause.is_over:
            self._defer(copy, f"S3 didn't respond within the last {PAUSE_SECONDS} seconds")
            return
        try:
            self.copies.put(copy)
        except ClientError as error:
            self._defer(copy, str(error))
        except BotoCoreError as error:
            self.pause.begin()
            self._defer(copy, str(error))

    def _defer(self, copy: WebhookCopy, reason: str) -> None:
        telemetry.copy_deferred(copy.key, reason)
        message = to_message(copy, correlation_id=logs.correlation_id())
        try:
            self.retries.send(message)
        except (UnavailableError, BotoCoreError, ClientError) as error:
            telemetry.copy_lost(copy.key, str(error))


def to_message(copy: WebhookCopy, *, correlation_id: str | None = None) -> str:
    """Compressed, because SQS limits the size of messages: job webhooks shrink to a fifth of their size or less."""
    packed = base64.b64encode(gzip.compress(copy.body, mtime=0)).decode()
    content = {"kind": COPY, "copy": asdict(replace(copy, body=b"")) | {"body": packed}}
    return json.dumps(message_format.stamp(content, correlation_id=correlation_id, version=message_format.COPIES))


def from_message(message: str) -> WebhookCopy:
    """Raises Malformed if `to_message` didn't create it."""
    content = payload.section(message_format.parse(message, supported=message_format.COPIES), "copy")
    received_by = content.get("received_by")
    return WebhookCopy(
        key=_text(content, "key"),
        body=_unpack(content.get("body")),
        delivery_id=_text(content, "delivery_id"),
        received_at=_text(content, "received_at"),
        received_by=None if received_by is None else _text(content, "received_by"),
        if_absent=content.get("if_absent") is True,
    )


def _text(content: payload.Json, name: str) -> str:
    return payload.required_text(content, name, longest=message_format.LONGEST_TEXT)


def _unpack(packed: Any) -> bytes:
    try:
        compressed = base64.b64decode(packed)
    except (ValueError, TypeError) as error:
        raise Malformed("body", "must be in base64") from error
    return gunzip(compressed)
