"""The queue of inputs that could not be recorded at once, of parts of large reviews, and of copies for S3.

Intake writes it, and `functions/webhook_retry.py` reads it."""

import dataclasses
import json
import re
from typing import TYPE_CHECKING, get_args

from runledger.model import message_format, payload
from runledger.model.errors import Malformed
from runledger.model.inputs import Receipt
from runledger.model.reports import GateJob, Input, Report, Review
from runledger.platform import logs
from runledger.platform.availability import translate_errors
from runledger.recording import approvals

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

KINDS: dict[str, type[Input]] = {kind.__name__: kind for kind in (Receipt, *get_args(Report))}
COPY = "WebhookCopy"  # a kind of message with a format of its own: see `runledger.migration.copies`
ENTRY = "entry"
# The first release reads only this name. It is still written, because during an upgrade and after a rollback an older
# function reads the messages of this one. A later release, which reads both names as this one does, can write ENTRY.
LEGACY_ENTRY_FIELD = "said"
_is_digest = re.compile("[0-9a-f]{64}").fullmatch


class RetryQueue:
    """Holds the input and not the webhook's body, which may be larger than an SQS message."""

    def __init__(self, client: "SQSClient", url: str) -> None:
        self._client = client
        self._url = url

    def put(self, received: Input) -> None:
        self.send(to_message(received, correlation_id=logs.correlation_id()))

    @translate_errors("retry queue")
    def send(self, message: str) -> None:
        self._client.send_message(QueueUrl=self._url, MessageBody=message)


def to_message(received: Input, *, correlation_id: str | None = None) -> str:
    values = dataclasses.asdict(received)
    if isinstance(received, Review) and received.jobs is not None:
        values["jobs"] = approvals.to_texts(received.jobs)
    content = {"kind": type(received).__name__, LEGACY_ENTRY_FIELD: values}
    return json.dumps(message_format.stamp(content, correlation_id=correlation_id), default=str)


def from_message(message: str) -> Input:
    """Raises Malformed if `to_message` didn't write the message."""
    values = message_format.parse(message)
    kind = KINDS.get(str(values.get("kind")))
    if kind is None:
        raise Malformed("kind", f"must be one of {', '.join(KINDS)}")
    content = {**payload.section(values, ENTRY if ENTRY in values else LEGACY_ENTRY_FIELD)}
    if kind is Review and content.get("jobs") is not None:
        content["jobs"] = _jobs(content["jobs"])
    received = message_format.read(kind, content)
    digest = getattr(received, "body_digest", None)
    if digest is not None and not _is_digest(digest):
        raise Malformed("body_digest", "must be a SHA-256 in hexadecimal digits")
    return received


def _jobs(texts: object) -> tuple[GateJob, ...]:
    try:
        jobs = approvals.from_texts(message_format.read(tuple[str, ...], texts, "jobs"))
        return tuple(message_format.read(GateJob, dataclasses.asdict(job), "jobs") for job in jobs)
    except (ValueError, TypeError) as error:
        raise Malformed("jobs", "must be a list of jobs at a gate") from error


def is_copy(message: str) -> bool:
    return bool(payload.parse_object(message, message_format.MESSAGE).get("kind") == COPY)


def source_of(received: Input) -> str:
    """Identifies an input in the log where its message carries no correlation id."""
    return str(getattr(received, "delivery_id", f"{type(received).__name__} of {received.installation_id}"))
