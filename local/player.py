"""Does one step of the demo after the other, each where it belongs: GitHub, a bus, or the tables."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

from local import aws
from local.github_records import records
from local.payloads.subjects import Delivery
from local.processes import LocalError
from local.steps import Awaited, BusEvent, deliveries

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_events import EventBridgeClient
    from mypy_boto3_events.type_defs import PutEventsRequestEntryTypeDef

    from local.control import Control
    from local.outputs import Outputs
    from local.steps import Step

_PATIENCE_SECONDS = 60
_LOOK_AGAIN_SECONDS = 0.1


class Player:
    """Shared by threads, as clients of boto3 may be."""

    def __init__(self, outputs: Outputs, github: Control) -> None:
        self._outputs = outputs
        self._github = github
        self._events: EventBridgeClient = aws.client(outputs, "events")
        self._tables: DynamoDBClient = aws.client(outputs, "dynamodb")

    def close(self) -> None:
        self._events.close()
        self._tables.close()

    def live(self, life: list[Step]) -> int:
        """GitHub knows how a chapter ends before it tells; what follows from a re-run it cannot know before."""
        known: list[Delivery] = []
        for chapter in chapters(life):
            known += deliveries(chapter)
            for record in records(known):
                self._github.put(record)
            for step in chapter:
                self.play(step)
        return len(life)

    def play(self, step: Step) -> None:
        match step:
            case Delivery():
                self._deliver(step)
            case BusEvent():
                self._publish(step)
            case Awaited():
                self._wait(step)

    def _deliver(self, delivery: Delivery) -> None:
        if delivery.lost:
            return
        if delivery.failed:
            self._github.lose(delivery.delivery_id)
        row = self._github.send(delivery.event, delivery.payload, delivery.delivery_id)
        if not delivery.failed and row["status_code"] != 202:
            raise LocalError(f"delivery {delivery.delivery_id} was answered with {row['status_code']}: {row['status']}")

    def _publish(self, event: BusEvent) -> None:
        entry: PutEventsRequestEntryTypeDef = {
            "EventBusName": "default" if event.from_aws else self._outputs.event_bus,
            "Source": event.source,
            "DetailType": event.detail_type,
            "Detail": json.dumps(event.detail),
        }
        if event.from_aws:
            entry["Time"] = event.sent_at
        answer = self._events.put_events(Entries=[entry])
        if answer["FailedEntryCount"]:
            raise LocalError(f"{event.detail_type} of {event.runner_id} was refused: {answer['Entries']}")

    def _wait(self, awaited: Awaited) -> None:
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while (seen := self._look(awaited)) != awaited.value:
            if time.monotonic() > deadline:
                raise LocalError(
                    f"{awaited.attribute} of {awaited.key} in {awaited.table} is {seen} and not {awaited.value} "
                    f"after {_PATIENCE_SECONDS} seconds: is there something in a dead-letter queue?"
                )
            time.sleep(_LOOK_AGAIN_SECONDS)

    def _look(self, awaited: Awaited) -> str | None:
        answer = self._tables.get_item(
            TableName=self._outputs.tables[awaited.table],
            Key={"PK": {"S": awaited.key}, "SK": {"S": "v"}},
            ConsistentRead=True,
        )
        return answer.get("Item", {}).get(awaited.attribute, {}).get("S")


def chapters(life: list[Step]) -> Iterator[list[Step]]:
    """Each ends where the story waits for the ledger."""
    chapter: list[Step] = []
    for step in life:
        chapter.append(step)
        if isinstance(step, Awaited):
            yield chapter
            chapter = []
    if chapter:
        yield chapter
