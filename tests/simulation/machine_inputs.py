"""Inputs about jobs and machines, as flows: webhooks, launcher events, AWS events, and the lookups that follow."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

from runledger.model.inputs import Lifecycle
from runledger.model.instance import Instance, RunnerKind
from runledger.model.prices import Price, PriceQuery
from runledger.recording import follow_up_queue
from runledger.runners import aws_events
from runledger.runners.lookups import MachineLookups

from tests.simulation.explore import Flow
from tests.simulation.world import Process
from tests.support import runner_events
from tests.support.settings import SETTINGS
from tests.support.webhooks import COMPLETED, IN_PROGRESS, INSTALLATION, QUEUED, receipt

LOOKUPS = SETTINGS["RUNNER_LOOKUPS_QUEUE"]
ONE, OTHER = "i-0aaaaaaaaaaaaaaa1", "i-0bbbbbbbbbbbbbbb2"
ELSEWHERE = "i-0ccccccccccccccc3"  # EC2 of this account and region doesn't describe it
FIRST, SECOND = 101, 202
AWS_PRICES = Price(per_hour=Decimal("0.09"), on_demand_per_hour=Decimal("0.2"))


def clock(minute: float) -> str:
    """So many minutes after ten o'clock."""
    seconds = round(minute * 60)
    return f"2025-01-15T{10 + seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.000Z"


def queued(job_id: int, minute: float = 0, *, installation_id: int = INSTALLATION) -> Flow:
    return _webhook(QUEUED, job_id, minute * 60, installation_id, created_at=clock(minute))


def started(
    job_id: int, machine: str, minute: float, *, created: float = 0, installation_id: int = INSTALLATION
) -> Flow:
    ran = _ran(machine, minute)
    return _webhook(IN_PROGRESS, job_id, minute * 60 + 1, installation_id, created_at=clock(created), **ran)


def completed(
    job_id: int,
    machine: str,
    start: float,
    end: float,
    *,
    created: float = 0,
    conclusion: str = "success",
    installation_id: int = INSTALLATION,
) -> Flow:
    ended = {"completed_at": clock(end), "conclusion": conclusion, **_ran(machine, start)}
    return _webhook(COMPLETED, job_id, end * 60 + 1, installation_id, created_at=clock(created), **ended)


def _webhook(step: str, job_id: int, seconds: float, installation_id: int, **changes: Any) -> Flow:
    guid = f"{step} {job_id} {installation_id}"
    received = receipt(step, at=round(seconds), guid=guid, job_id=job_id, **changes)
    received = replace(received, installation_id=installation_id)
    return lambda process: process.ledger.dispatch(received)


def _ran(machine: str, minute: float) -> dict[str, Any]:
    return {"started_at": clock(minute), "runner_id": 7, "runner_name": f"runner-{machine}"}


def scheduled(job_id: int, machine: str, minute: int, *, again: bool = False, **facts: Any) -> Flow:
    facts.setdefault("runner_name", f"planned-{machine}")
    event = runner_events.launcher(
        "runner_rescheduled" if again else "runner_scheduled",
        job_id=job_id,
        runner_id=machine,
        minute=minute,
        event_id=f"{job_id} on {machine} at {minute}",
        **facts,
    )
    return lambda process: runner_events.publish(event, process.runners)


def state(machine: str, name: str, minute: int) -> Flow:
    event = runner_events.instance_state(name, runner_id=machine, minute=minute)
    return lambda process: aws_events.record(event, process.runners)


def warned(machine: str, minute: int) -> Flow:
    event = runner_events.interruption(runner_id=machine, minute=minute)
    return lambda process: aws_events.record(event, process.runners)


def look_up_all(process: Process) -> None:
    """What the lookup function does with the messages that wait for it."""
    for message in process.world.queues.take(LOOKUPS):
        look_up(message)(process)


def look_up_again(process: Process) -> None:
    """The queue delivers at least once: the messages stay for later."""
    for message in process.world.queues.messages.get(LOOKUPS, ()):
        look_up(message)(process)


def look_up(message: str) -> Flow:
    lookup = follow_up_queue.lookup_from(message)
    return lambda process: MachineLookups(tracker=process.runners, find_machine=_describe, find_price=_price).look_up(
        lookup
    )


def _describe(runner_id: str, _: RunnerKind) -> Instance | None:
    if runner_id == ELSEWHERE:
        return None
    return Instance(
        runner_id=runner_id,
        kind=RunnerKind.EC2,
        state="running",
        instance_type="t4g.small",
        lifecycle=Lifecycle.ON_DEMAND,
        pool_name="tagged",
        launched_at=clock(0.5),
        tags={"ghr:Application": "github-action-runner"},
    )


def _price(_: PriceQuery) -> Price:
    return AWS_PRICES
