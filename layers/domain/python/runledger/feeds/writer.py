"""Appends events to the feed: each once, in the order of the queue.

    mark the id with a position ── put the event at that position

A new event has no mark. If there is a mark, either the event was written before, or a writer died between the two
writes. In the second case, the marked position is empty, and the event gets a new position at the end of the feed: a
consumer may have passed the old one.

The queue gives the messages of an installation to one writer at a time, so no other event is written between the two
steps.
"""

from collections.abc import Callable, Sequence
from typing import Any

from runledger.feeds.events import API_VERSION, FeedEvent
from runledger.model import times
from runledger.model.dataclass import dataclass
from runledger.platform.availability import translate_errors
from runledger.platform.encoding import to_json
from runledger.tables.feed import FeedTable, position_at, written_at

LARGEST_IN_TABLE = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    new: int
    repeated: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Payloads:
    """Data that is too large for the table."""

    s3: Any
    bucket: str

    @translate_errors("the feed bucket")
    def put(self, event: FeedEvent, text: str) -> str:
        """Safe to repeat: the key is derived from the event."""
        key = f"feed/{event.installation_id}/{event.event_id}.json"
        self.s3.put_object(Bucket=self.bucket, Key=key, Body=text.encode(), ContentType="application/json")
        return key

    @translate_errors("the feed bucket")
    def get(self, key: str) -> str:
        return str(self.s3.get_object(Bucket=self.bucket, Key=key)["Body"].read(), "utf-8")


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedWriter:
    table: FeedTable
    payloads: Payloads
    now: Callable[[], str]

    def write(self, events: Sequence[FeedEvent]) -> Written:
        """All events must belong to one installation."""
        if not events:
            return Written(new=0, repeated=0)
        new, newest = 0, self.table.newest(events[0].installation_id)
        for event in events:
            position = position_at(self._time_after(newest), event.event_id)
            if self._claim(event, position):
                self.table.put(self._item(event), position)
                new, newest = new + 1, position
        return Written(new=new, repeated=len(events) - new)

    def _claim(self, event: FeedEvent, position: str) -> bool:
        """False if the event is already in the feed."""
        installation_id = event.installation_id
        if self.table.mark(installation_id, event.event_id, position):
            return True
        marked = self.table.position_of(installation_id, event.event_id)
        if marked and self.table.exists(installation_id, marked):
            return False
        self.table.mark_again(installation_id, event.event_id, position)
        return True

    def _time_after(self, newest: str | None) -> str:
        """Later than every event in the feed, even if this writer's clock is behind the clock of the last writer."""
        now = self.now()
        return max(now, times.later(written_at(newest), seconds=0.001)) if newest else now

    def _item(self, event: FeedEvent) -> dict[str, Any]:
        text = to_json(event.payload)
        payload = (
            {"payload": text} if len(text) <= LARGEST_IN_TABLE else {"payload_key": self.payloads.put(event, text)}
        )
        about = {
            "source": event.origin,
            "source_ip": event.source_ip,
            "api_version": API_VERSION,
            "correlation_id": event.correlation_id,
        }
        return {
            "installation_id": event.installation_id,
            "event_id": event.event_id,
            "event_type": event.event_type,
            "occurred_at": event.occurred_at,
            "subject": event.subject,
            "payload_bytes": len(text),
            **payload,
            "metadata": {name: value for name, value in about.items() if value is not None},
        }
