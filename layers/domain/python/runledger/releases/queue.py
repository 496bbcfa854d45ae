"""The queues of releases: publications, in order for each installation, and release lines that may have work to do."""

import dataclasses
import hashlib
import json
from typing import TYPE_CHECKING, Any

from runledger.model import message_format, payload
from runledger.model.dataclass import dataclass
from runledger.model.packages import LineKey, Publication
from runledger.platform import logs
from runledger.platform.availability import translate_errors
from runledger.releases import names

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

# SQS allows 900, but the alarm QueueAge-Rebuilds treats a message older than ten minutes as a stalled queue.
LONGEST_DELAY_SECONDS = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicationQueue:
    """FIFO, with one message group for each installation, so that its publications are processed in order."""

    sqs: "SQSClient"
    url: str

    @translate_errors("the publication queue")
    def send(self, publication: Publication, digest: str | None = None) -> None:
        """SQS drops a second input with the same `digest`. The default is a hash of the publication."""
        values = dataclasses.asdict(publication)
        body = message_format.stamp({"publication": values}, correlation_id=logs.correlation_id())
        unique = digest or hashlib.sha256(_to_json(values).encode()).hexdigest()
        self.sqs.send_message(
            QueueUrl=self.url,
            MessageBody=_to_json(body),
            MessageGroupId=str(publication.installation_id),
            MessageDeduplicationId=unique,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RebuildQueue:
    """Each message names a line. Repeated messages are harmless, so a standard queue is enough."""

    sqs: "SQSClient"
    url: str

    @translate_errors("the rebuild queue")
    def send(self, line: LineKey, *, delay_seconds: float = 0) -> None:
        body = message_format.stamp({"line": line._asdict()}, correlation_id=logs.correlation_id())
        delay = min(LONGEST_DELAY_SECONDS, round(delay_seconds))
        self.sqs.send_message(QueueUrl=self.url, MessageBody=_to_json(body), DelaySeconds=delay)


def read_publication(message: str) -> Publication:
    """Raises Malformed or NewerMessage if `PublicationQueue` didn't create the message."""
    values = payload.section(message_format.parse(message), "publication")
    return message_format.read(Publication, values)


def read_line(message: str) -> LineKey:
    values = payload.section(message_format.parse(message), "line")
    return LineKey(
        payload.identifier(values, "installation_id"),
        names.package_name(values.get("name")),
        names.version(values.get("version")),
    )


def _to_json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), sort_keys=True, default=str)
