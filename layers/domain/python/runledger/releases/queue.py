"""The queues of releases: publications in order for each installation, and release lines that may have work to do."""

import dataclasses
import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from runledger.model import message_format, payload
from runledger.model.packages import LineKey, Publication
from runledger.platform import logs
from runledger.platform.availability import translate_errors
from runledger.releases import names

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

# SQS allows 900, but a message of ten minutes is what QueueAge-Rebuilds takes for a queue that isn't processed.
LONGEST_DELAY_SECONDS = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicationQueue:
    """FIFO, with one group for each installation: its publications are handled one after the other."""

    sqs: "SQSClient"
    url: str

    @translate_errors("the queue of publications")
    def send(self, publication: Publication, digest: str | None = None) -> None:
        """`digest` identifies the input; by default, the publication itself."""
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
    """Messages name a line. One that is repeated does no harm, so a standard queue suffices."""

    sqs: "SQSClient"
    url: str

    @translate_errors("the queue of rebuilds")
    def send(self, line: LineKey, *, delay_seconds: float = 0) -> None:
        body = message_format.stamp({"line": line._asdict()}, correlation_id=logs.correlation_id())
        delay = min(LONGEST_DELAY_SECONDS, round(delay_seconds))
        self.sqs.send_message(QueueUrl=self.url, MessageBody=_to_json(body), DelaySeconds=delay)


def read_publication(message: str) -> Publication:
    """Malformed or NewerMessage if the message isn't one of `PublicationQueue`."""
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
