"""The queue of inputs that could not be recorded at once: intake writes it, `functions/webhook_retry.py` reads it."""

import dataclasses
import json
from typing import TYPE_CHECKING, get_args

from runledger.model import message_format
from runledger.model.inputs import Receipt
from runledger.model.reports import Report, Review
from runledger.platform import logs
from runledger.platform.availability import translate_errors
from runledger.recording import approvals

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

KINDS: dict[str, type[Receipt | Report]] = {kind.__name__: kind for kind in (Receipt, *get_args(Report))}
ENTRY = "entry"
# The first release reads only this name. It is still written, because during an upgrade and after a rollback an older
# function reads the messages of this one. A later release, which reads both names as this one does, can write ENTRY.
FIRST_NAME_OF_ENTRY = "said"


class RetryQueue:
    """Holds the input and not the webhook's body, which may be larger than a message of SQS."""

    def __init__(self, client: "SQSClient", url: str) -> None:
        self._client = client
        self._url = url

    @translate_errors("retry queue")
    def put(self, entry: Receipt | Report) -> None:
        message = to_message(entry, correlation_id=logs.correlation_id())
        self._client.send_message(QueueUrl=self._url, MessageBody=message)


def to_message(entry: Receipt | Report, *, correlation_id: str | None = None) -> str:
    values = dataclasses.asdict(entry)
    if isinstance(entry, Review) and entry.jobs is not None:
        values["jobs"] = approvals.to_texts(entry.jobs)
    content = {"kind": type(entry).__name__, FIRST_NAME_OF_ENTRY: values}
    return json.dumps(message_format.stamp(content, correlation_id=correlation_id), default=str)


def from_message(message: str) -> Receipt | Report:
    values = json.loads(message)
    message_format.check(values)
    content = values[ENTRY] if ENTRY in values else values[FIRST_NAME_OF_ENTRY]
    if KINDS[values["kind"]] is Review and content.get("jobs") is not None:
        content["jobs"] = approvals.from_texts(content["jobs"])
    entry: Receipt | Report = message_format.read(KINDS[values["kind"]], content)
    return entry


def source_of(entry: Receipt | Report) -> str:
    """Identifies an entry in the log where its message carries no correlation id."""
    return str(getattr(entry, "delivery_id", f"{type(entry).__name__} of {entry.installation_id}"))
