"""The demo's webhooks in memory: whatever happens to the batches of the streams, the feed is the same."""

import json
from random import Random
from typing import Any

import pytest
from runledger.feeds import queue
from runledger.feeds.envelope import envelope
from runledger.tables.feed import written_at

from tests.api.test_demo_figures import INSTALLATIONS, SENT
from tests.feeds import cloud_events
from tests.feeds.schemas import problems
from tests.feeds.streams import (
    ALL_TABLES,
    Fifo,
    Pipeline,
    Record,
    feed_of,
    ids,
    positions,
    record_changes,
    ticking,
    types,
)
from tests.functions.conftest import World, world
from tests.simulation.engine import Engine
from tests.support.memory import engine
from tests.support.webhooks import http_event

__all__ = ["world"]

SEEDS = range(10)


@pytest.fixture
def records(world: World) -> list[Record]:
    """The streams of all tables, one after the other as their shards may come."""
    found = record_changes(engine())
    for each in SENT:
        at = round(each.sent_at.timestamp() * 1000)
        body = json.dumps(each.payload).encode()
        world.invoke("webhook_intake", http_event(body, guid=each.delivery_id, event=each.event, at_epoch_ms=at))
    return found


class Unreliable(Fifo):
    """Fails before or after it has received a message."""

    def __init__(self, dice: Random) -> None:
        super().__init__()
        self.dice = dice

    def send_message(self, **message: str) -> dict[str, str]:
        if self.dice.random() < 0.1:
            raise ConnectionError("before")
        super().send_message(**message)
        if self.dice.random() < 0.1:
            self.seen.clear()  # and forgets what it has received, as SQS does after five minutes
            raise ConnectionError("after")
        return {}


class Dying:
    """DynamoDB, for a writer that is killed before or after some of its calls."""

    def __init__(self, engine: Engine, dice: Random) -> None:
        self.engine, self.dice = engine, dice

    def __getattr__(self, name: str) -> Any:
        def call(**arguments: Any) -> Any:
            if self.dice.random() < 0.05:
                raise KeyboardInterrupt("killed before a call")
            response = getattr(self.engine, name)(**arguments)
            if self.dice.random() < 0.05:
                raise KeyboardInterrupt("killed after a call")
            return response

        return call


def feeds_of(tables: Engine) -> dict[int, list[str]]:
    return {each: ids(feed_of(tables, each)) for each in INSTALLATIONS}


def undisturbed(records: list[Record]) -> Engine:
    tables = Engine(ALL_TABLES)
    pipeline = Pipeline(tables, now=ticking())
    assert pipeline.forward(records) == {"batchItemFailures": []}
    pipeline.drain()
    return tables


def test_the_feed_is_exactly_once_and_in_order_whatever_is_repeated_split_or_fails_half_way(
    records: list[Record], monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = feeds_of(undisturbed(records))
    assert sum(map(len, expected.values())) > 100
    monkeypatch.setattr("runledger.platform.stream_batches.logs", _Silent())
    for seed in SEEDS:
        dice, tables = Random(seed), Engine(ALL_TABLES)  # noqa: S311
        sqs = Unreliable(dice)
        start = 0
        while start < len(records):
            end = start + dice.randint(1, 30)
            begin = max(0, start - 5) if dice.random() < 0.2 else start  # Lambda repeats some records
            response = Pipeline(tables, sqs=sqs).forward(records[begin:end])
            failures = response["batchItemFailures"]
            start = min(start, int(failures[0]["itemIdentifier"])) if failures else end
            _drain(tables, sqs, dice)
        _drain(tables, sqs, dice)
        assert feeds_of(tables) == expected, f"seed {seed}"


class _Silent:
    def __getattr__(self, _: str) -> Any:
        return _Silent()

    def __call__(self, *_: object, **__: object) -> None:
        pass


def _drain(tables: Engine, sqs: Fifo, dice: Random) -> None:
    """A message stays in the queue until its writer has finished; clocks of writers differ by seconds."""
    while sqs.messages:
        now = ticking(1_736_942_400_000 + dice.randint(-5000, 5000))
        writer = Pipeline(Dying(tables, dice), now=now).writer
        try:
            writer.write(queue.read(sqs.messages[0][1]))
        except KeyboardInterrupt:
            continue
        sqs.messages.pop(0)


def test_every_event_of_the_demo_is_valid_and_belongs_to_its_installation(records: list[Record]) -> None:
    tables = undisturbed(records)
    seen: set[str] = set()
    for installation_id in INSTALLATIONS:
        table = Pipeline(tables).table
        found = table.after(installation_id, None, limit=1000).items
        for item in found:
            event = _envelope(item)
            cloud_events.read(event)
            assert problems(event) == []
            assert event["data"]["installation_id"] == installation_id
        items = feed_of(tables, installation_id)
        seen |= set(types(items))
        times = list(map(written_at, positions(items)))
        assert times == sorted(set(times))
    assert seen >= {"job.queued", "job.started", "job.completed", "job.failed", "run.completed", "approval.given"}


def _envelope(item: dict[str, Any]) -> dict[str, Any]:

    return envelope(item, written_at=written_at(item["SK"]))
