"""Any price that a launcher may report ends in a recorded cost: whole, tiny or huge, through the real tables."""

import json
from decimal import ROUND_HALF_UP, Decimal
from itertools import count
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from runledger.model.job import Job
from runledger.queries.pools import Pools
from runledger.recording import telemetry
from runledger.recording.decision import Outcome
from runledger.recording.ledger import Ledger
from runledger.runners.tracker import RunnerTracker
from runledger.tables.job_pages import JobPages
from runledger.tables.jobs import MONEY
from runledger.tables.pages import Span
from runledger.tables.runners import RunnersTable

from tests.api.client import Client
from tests.functions.conftest import World
from tests.support import runner_events
from tests.support.ledgers import JOBS, RUNNERS, ledger_on
from tests.support.runner_events import SCOPE
from tests.support.webhooks import COMPLETED, INSTALLATION, JOB, QUEUED, REPO, http_event, payload, receipt

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

SECONDS = 615  # as long as the job of `tests.support.webhooks` runs
WHOLE = st.integers(min_value=1, max_value=1000)
FRACTIONS = st.floats(min_value=0, max_value=1000, exclude_min=True, allow_subnormal=True)
SMALLEST_FLOAT, LARGEST_FLOAT = 5e-324, 999.9999999999999

_numbers = count(JOB)


def completed(dynamodb: "DynamoDBClient", price: float, on_demand: float) -> tuple[Job, Job]:
    """A new job as the completion left it, and as the table returns it."""
    ledger = ledger_on(dynamodb)
    runners = RunnerTracker(table=RunnersTable(dynamodb, RUNNERS, retention_days=14), record=ledger.record, scope=SCOPE)
    job_id = next(_numbers)
    ledger.record(receipt(QUEUED, job_id=job_id))
    event = runner_events.launcher(
        "runner_scheduled",
        job_id=job_id,
        runner_id=f"i-{job_id:017x}",
        price_per_hour=price,
        on_demand_price_per_hour=on_demand,
    )
    runner_events.publish(json.loads(json.dumps(event)), runners)
    name = f"runner-i-{job_id:017x}"
    decision = ledger.record(receipt(COMPLETED, at=700, job_id=job_id, runner_name=name))
    assert decision.outcome is Outcome.RECORDED
    telemetry.recorded(receipt(COMPLETED), decision)
    return decision.job, read(ledger, job_id)


def read(ledger: Ledger, job_id: int) -> Job:
    found = ledger.jobs.get(INSTALLATION, job_id, consistent=True)
    assert found is not None
    return found


def cost(price: float) -> Decimal:
    return (Decimal(str(price)) * SECONDS / 3600).quantize(Decimal("0.000001"), ROUND_HALF_UP)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(price=WHOLE | FRACTIONS, on_demand=WHOLE | FRACTIONS)
@example(price=2, on_demand=3)
@example(price=2.0, on_demand=100)
@example(price=SMALLEST_FLOAT, on_demand=1e-131)
@example(price=1e-130, on_demand=LARGEST_FLOAT)
def test_any_price_is_saved_read_and_charged(dynamodb: "DynamoDBClient", price: float, on_demand: float) -> None:
    recorded, stored = completed(dynamodb, price, on_demand)
    assert recorded.usage_in_dollars == stored.usage_in_dollars == cost(price)
    assert recorded.saved_in_dollars == stored.saved_in_dollars == cost(on_demand) - cost(price)
    assert {name: type(getattr(stored, name)) for name in MONEY} == dict.fromkeys(MONEY, Decimal)


def test_money_lists_all_attributes_in_dollars() -> None:
    assert set(MONEY) == {"price_per_hour", "on_demand_price_per_hour", "usage_in_dollars", "saved_in_dollars"}


def test_a_corrected_whole_price_corrects_the_cost(dynamodb: "DynamoDBClient") -> None:
    first, _ = completed(dynamodb, 2, 5)
    ledger = ledger_on(dynamodb)
    runners = RunnerTracker(table=RunnersTable(dynamodb, RUNNERS, retention_days=14), record=ledger.record, scope=SCOPE)
    same = f"i-{first.job_id:017x}"
    event = runner_events.launcher(
        "runner_rescheduled", job_id=first.job_id, runner_id=same, minute=2, price_per_hour=3
    )
    runner_events.publish(event, runners)
    assert read(ledger, first.job_id).usage_in_dollars == cost(3)


def test_pools_and_statistics_add_up_whole_dollars(dynamodb: "DynamoDBClient") -> None:
    job, _ = completed(dynamodb, 360, 720)  # $61.50
    pages = JobPages(dynamodb, JOBS)
    (completed_job,) = next(pages.completed_jobs(INSTALLATION, Span(), repo_full_name=REPO))
    assert (completed_job.job_id, completed_job.dollars) == (job.job_id, Decimal("61.5"))
    figures = Pools(since="2025-01-01", until="2026-01-01")
    figures.add_completed(completed_job)
    assert figures.to_json()[0]["usage_in_dollars"] == Decimal("61.5")


def test_a_webhook_completes_a_job_on_a_two_dollar_runner(world: World, api: Client) -> None:
    def deliver(step: str) -> int:
        event = http_event(json.dumps(payload(step)).encode(), guid=f"guid of {step}")
        return int(world.invoke("webhook_intake", event)["statusCode"])

    assert deliver(QUEUED) == 202
    scheduled = runner_events.launcher("runner_scheduled", price_per_hour=2, on_demand_price_per_hour=5)
    assert world.invoke("scheduling_events", runner_events.batch(scheduled)) == {"batchItemFailures": []}
    assert deliver(COMPLETED) == 202
    job = api.get(f"/v1/installations/{INSTALLATION}/jobs/{JOB}").body
    assert (job["price_per_hour"], job["usage_in_dollars"], job["saved_in_dollars"]) == (2, 0.341667, 0.5125)
