"""The queue from the event sources to the feed writer: FIFO, with one message group for each installation.

A message contains events of one installation, in order. So a send queues either all of them or none.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, asdict, fields
from typing import TYPE_CHECKING, Any

from runledger.feeds.events import ALL_TYPES, FeedEvent, is_kept
from runledger.model import message_format
from runledger.model.dataclass import dataclass
from runledger.model.errors import Malformed
from runledger.platform.availability import translate_errors
from runledger.platform.encoding import to_json

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

# An SQS message has at most 1 MiB, and an event has up to 200 KB of data: see `custom_events`.
MOST_BYTES = 250_000
MOST_EVENTS = 50
FIELDS = {each.name for each in fields(FeedEvent)}
REQUIRED = {each.name for each in fields(FeedEvent) if each.default is MISSING and each.default_factory is MISSING}


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedQueue:
    """Only events whose type matches `types` are sent."""

    sqs: "SQSClient"
    url: str
    types: tuple[str, ...] = ALL_TYPES

    def send(self, events: Iterable[FeedEvent]) -> int:
        """The number of events sent. Keeps the order within each installation. Sending an event twice is safe."""
        by_installation: dict[int, list[FeedEvent]] = {}
        for event in events:
            if is_kept(event.event_type, self.types):
                by_installation.setdefault(event.installation_id, []).append(event)
        for installation_id, found in by_installation.items():
            for body in bodies(found):
                self._send(installation_id, body)
        return sum(map(len, by_installation.values()))

    @translate_errors("the feed queue")
    def _send(self, installation_id: int, body: str) -> None:
        self.sqs.send_message(
            QueueUrl=self.url,
            MessageBody=body,
            MessageGroupId=str(installation_id),
            MessageDeduplicationId=hashlib.sha256(body.encode()).hexdigest(),
        )


def bodies(events: Sequence[FeedEvent]) -> Iterator[str]:
    """As few messages as possible."""
    part: list[Mapping[str, Any]] = []
    part_bytes = 0
    for event in events:
        values = {name: value for name, value in asdict(event).items() if value is not None or name == "payload"}
        size = len(to_json(values))
        if part and (len(part) == MOST_EVENTS or part_bytes + size > MOST_BYTES):
            yield _body(part)
            part, part_bytes = [], 0
        part.append(values)
        part_bytes += size
    if part:
        yield _body(part)


def read(message: str) -> list[FeedEvent]:
    """Raises Malformed or NewerMessage if `bodies` didn't create the message."""
    found = message_format.parse(message).get("events")
    if not isinstance(found, list) or not all(isinstance(each, dict) and each.keys() >= REQUIRED for each in found):
        raise Malformed("events", "must be a list of events")
    return [FeedEvent(**{name: value for name, value in each.items() if name in FIELDS}) for each in found]


def _body(events: Sequence[Mapping[str, Any]]) -> str:
    return to_json(message_format.stamp({"events": list(events)}))
