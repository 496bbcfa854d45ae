"""The queue from the event sources to the feed writer: FIFO, with one message group for each installation.

A message contains events of one installation, in order. So a send queues either all of them or none.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from runledger.feeds.events import ALL_TYPES, FeedEvent, is_kept
from runledger.model import message_format
from runledger.model.errors import Malformed
from runledger.platform.availability import translate_errors

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

# An SQS message has at most 1 MiB, and an event has up to 200 KB of data: see `custom_events`.
MOST_BYTES = 250_000
MOST_EVENTS = 50
FIELDS = {each.name for each in fields(FeedEvent)}
REQUIRED = {"installation_id", "event_id", "event_type", "occurred_at", "subject", "origin"}


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
    part: list[str] = []
    for event in events:
        values = {name: value for name, value in asdict(event).items() if value is not None or name == "payload"}
        text = to_json(values)
        size = sum(map(len, part)) + len(text)
        if part and (len(part) == MOST_EVENTS or size > MOST_BYTES):
            yield _body(part)
            part = []
        part.append(text)
    if part:
        yield _body(part)


def read(message: str) -> list[FeedEvent]:
    """Raises Malformed or NewerMessage if `bodies` didn't create the message."""
    found = message_format.parse(message).get("events")
    if not isinstance(found, list) or not all(isinstance(each, dict) and each.keys() >= REQUIRED for each in found):
        raise Malformed("events", "must be a list of events")
    return [FeedEvent(**{name: value for name, value in each.items() if name in FIELDS}) for each in found]


def to_json(value: Any) -> str:
    """ASCII, so that its length is its size in bytes."""
    return json.dumps(value, separators=(",", ":"), default=_plain)


def _body(events: Sequence[str]) -> str:
    (before, after) = to_json(message_format.stamp({"events": "EVENTS"})).split('"EVENTS"')
    return f"{before}[{','.join(events)}]{after}"


def _plain(value: object) -> object:
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, set | frozenset | tuple):
        return sorted(value) if not isinstance(value, tuple) else list(value)
    raise TypeError(f"{value!r} can't be converted to JSON")
