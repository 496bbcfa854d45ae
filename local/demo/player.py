"""Executes the steps of the demo: sends webhooks, publishes events, or waits for the ledger."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

from local.aws import clients as aws
from local.demo.github_records import records
from local.demo.payloads.entities import Delivery
from local.demo.steps import Awaited, BusEvent, deliveries
from local.processes import LocalError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_events import EventBridgeClient
    from mypy_boto3_events.type_defs import PutEventsRequestEntryTypeDef

    from local.aws.outputs import Outputs
    from local.demo.relay import Relay
    from local.demo.steps import Step
    from local.github.control import Control

_TIMEOUT_SECONDS = 60
_POLL_SECONDS = 0.1


class Player:
    """Thread-safe, because boto3 clients are."""

    def __init__(self, outputs: Outputs, github: Control, relay: Relay) -> None:
        self._outputs = outputs
        self._github = github
        self._relay = relay
        self._events: EventBridgeClient = aws.client(outputs, "events")
        self._tables: DynamoDBClient = aws.client(outputs, "dynamodb")

    def close(self) -> None:
        self._events.close()
        self._tables.close()

    def play_all(self, steps: list[Step]) -> int:
        """Creates the records of a chapter on GitHub before its webhooks are sent. A re-run begins a new chapter."""
        known: list[Delivery] = []
        for chapter in chapters(steps):
            known += deliveries(chapter)
            for record in records(known):
                self._github.put(record)
            for step in chapter:
                self.play(step)
        return len(steps)

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
        self._relay.expect(delivery.delivery_id, delivery.received_at)
        row = self._github.send(delivery.event, delivery.payload, delivery.delivery_id)
        if not delivery.failed and row["status_code"] != 202:
            raise LocalError(f"delivery {delivery.delivery_id} got the response {row['status_code']}: {row['status']}")

    def _publish(self, event: BusEvent) -> None:
        entry: PutEventsRequestEntryTypeDef = {
            "EventBusName": "default" if event.from_aws else self._outputs.event_bus,
            "Source": event.source,
            "DetailType": event.detail_type,
            "Detail": json.dumps(event.detail),
            "Time": event.sent_at,
        }
        response = self._events.put_events(Entries=[entry])
        if response["FailedEntryCount"]:
            raise LocalError(f"{event.detail_type} of {event.runner_id} was rejected: {response['Entries']}")

    def _wait(self, awaited: Awaited) -> None:
        deadline = time.monotonic() + _TIMEOUT_SECONDS
        while (seen := self._read(awaited)) != awaited.value:
            if time.monotonic() > deadline:
                raise LocalError(
                    f"{awaited.attribute} of {awaited.key} in {awaited.table} is {seen} instead of {awaited.value} "
                    f"after {_TIMEOUT_SECONDS} seconds: check the dead-letter queues"
                )
            time.sleep(_POLL_SECONDS)

    def _read(self, awaited: Awaited) -> str | None:
        response = self._tables.get_item(
            TableName=self._outputs.tables[awaited.table],
            Key={"PK": {"S": awaited.key}, "SK": {"S": "v"}},
            ConsistentRead=True,
        )
        return response.get("Item", {}).get(awaited.attribute, {}).get("S")


def chapters(steps: list[Step]) -> Iterator[list[Step]]:
    """Split the steps after each one that waits for the ledger."""
    chapter: list[Step] = []
    for step in steps:
        chapter.append(step)
        if isinstance(step, Awaited):
            yield chapter
            chapter = []
    if chapter:
        yield chapter
