"""What jobs cost is a metric, counted once, whenever the price becomes known."""

import json
from dataclasses import replace
from decimal import Decimal

import pytest
from runledger.model.inputs import EventType, Facts, Receipt, Source, Status
from runledger.recording import telemetry
from runledger.recording.decision import decide

from tests.functions.conftest import World
from tests.support import runner_events
from tests.support.log_lines import metrics, written
from tests.support.runner_events import INSTANCE, batch
from tests.support.webhooks import COMPLETED, QUEUED, http_event, payload, receipt

SCHEDULED = batch(runner_events.launcher("runner_scheduled", price_per_hour=0.02))
SPEND = 0.003417  # 615 seconds at two cents an hour


def webhook(world: World, step: str) -> None:
    world.invoke("webhook_intake", http_event(json.dumps(payload(step)).encode(), guid=f"guid of {step}"))


def test_a_job_costs_when_it_completes(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    webhook(world, QUEUED)
    world.invoke("scheduling_events", SCHEDULED)
    assert "Spend" not in metrics(written(capsys))
    webhook(world, COMPLETED)
    assert metrics(written(capsys))["Spend"] == SPEND


def test_a_price_that_is_learnt_after_the_job_is_counted_then(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    webhook(world, COMPLETED)
    assert "Spend" not in metrics(written(capsys))
    world.invoke("scheduling_events", SCHEDULED)
    assert metrics(written(capsys))["Spend"] == SPEND
    world.invoke("scheduling_events", SCHEDULED)
    assert "Spend" not in metrics(written(capsys))


def priced(price: str, *, scheduled_at: str) -> Receipt:
    completed = receipt(COMPLETED, guid=f"scheduled at {scheduled_at}")
    facts = Facts(
        instance_id=INSTANCE,
        scheduled_at=scheduled_at,
        instance_lifecycle="spot",
        price_per_hour=Decimal(price),
        on_demand_price_per_hour=Decimal("0.05"),
    )
    return replace(
        completed,
        event_type=EventType.RUNNER_SCHEDULED,
        source=Source.INTERNAL,
        status=Status.SCHEDULED,
        body_digest=None,
        facts=facts,
    )


def test_a_price_that_is_corrected_counts_by_the_difference(capsys: pytest.CaptureFixture[str]) -> None:
    first = priced("0.02", scheduled_at="2025-01-15T10:00:01.000Z")
    decision = decide(decide(None, receipt(COMPLETED)).job, first)
    telemetry.recorded(first, decision)
    emitted = metrics(written(capsys))
    assert (emitted["Spend"], emitted["SpotSavings"]) == (SPEND, 0.005125)
    corrected = priced("0.04", scheduled_at="2025-01-15T10:00:02.000Z")
    telemetry.recorded(corrected, decide(decision.job, corrected))
    emitted = metrics(written(capsys))
    assert (emitted["Spend"], emitted["SpotSavings"]) == (0.003416, -0.003416)
