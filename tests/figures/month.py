"""A month of jobs as plain facts, and the webhooks and events that report them."""

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from runledger.model.places import Place
from runledger.recording.ledger import Ledger
from runledger.runners.tracker import RunnerTracker
from runledger.webhooks.delivery import Delivery
from runledger.webhooks.readers import dispatcher

from tests.support import messages, runner_events
from tests.support.webhooks import COMPLETED, IN_PROGRESS, INSTALLATION, QUEUED, WAITING, payload

BEGIN, NOW = datetime(2025, 1, 1, tzinfo=UTC), datetime(2025, 1, 31, 12, tzinfo=UTC)
REPOSITORIES = ("lineville/web", "lineville/api", "lineville/tools")
CONCLUSIONS = ("success", "success", "success", "success", "failure", "timed_out", "cancelled")
ENVIRONMENT = "production"
SECOND = timedelta(seconds=1)


@dataclass(frozen=True, kw_only=True)
class Machine:
    pool: str
    lifecycle: str
    instance_type: str
    price: float | None
    on_demand: float | None


MACHINES = (
    Machine(pool="small", lifecycle="spot", instance_type="c7g.large", price=0.0335, on_demand=0.0725),
    Machine(pool="small", lifecycle="on-demand", instance_type="c7g.large", price=0.0725, on_demand=0.0725),
    Machine(pool="dear", lifecycle="spot", instance_type="m7g.large", price=0.12, on_demand=0.0816),
    Machine(pool="unpriced", lifecycle="spot", instance_type="x9.large", price=None, on_demand=None),
)


@dataclass(frozen=True, kw_only=True)
class Fact:
    """What happened to one job."""

    job_id: int
    repo: str
    name: str
    created: datetime
    received: datetime
    machine: Machine | None = None
    scheduled: datetime | None = None
    requested: datetime | None = None  # an approval
    approved: datetime | None = None
    started: datetime | None = None
    completed: datetime | None = None
    conclusion: str | None = None
    machine_died: datetime | None = None
    copies: tuple[int, ...] = field(default=())  # jobs of later attempts that a partial re-run carried over

    @property
    def run_id(self) -> int:
        return 1_000_000 + self.job_id

    @property
    def runner_id(self) -> str:
        return f"i-{self.job_id:017x}"


def facts(seed: int, number: int) -> list[Fact]:
    """The last ones have been open for long, one in each status, one waited for weeks, and two run without a price
    or without their machine, which died silently."""
    dice = random.Random(seed)  # noqa: S311
    return [*(_fact(dice, 1 + 10 * each) for each in range(number)), *_long_lives(1 + 10 * number)]


def _long_lives(first_id: int) -> Iterator[Fact]:
    created = NOW - timedelta(days=2)
    known: dict[str, Any] = {"repo": REPOSITORIES[1], "name": "long", "created": created, "received": created + SECOND}
    scheduled: dict[str, Any] = {"machine": MACHINES[0], "scheduled": created + timedelta(minutes=1)}
    requested = created + timedelta(minutes=2)
    yield Fact(job_id=first_id, **known)
    yield Fact(job_id=first_id + 10, **known, requested=requested)
    yield Fact(job_id=first_id + 20, **known, **scheduled)
    yield Fact(job_id=first_id + 30, **known, **scheduled, started=created + timedelta(minutes=3))
    early: dict[str, Any] = {"created": BEGIN + timedelta(days=1), "received": BEGIN + timedelta(days=1, seconds=1)}
    approved: dict[str, Any] = {
        "requested": BEGIN + timedelta(days=1, seconds=6),
        "approved": BEGIN + timedelta(days=25),
    }
    done: dict[str, Any] = {
        "started": BEGIN + timedelta(days=25, minutes=1),
        "completed": BEGIN + timedelta(days=25, minutes=5),
    }
    yield Fact(job_id=first_id + 40, **known | early, **approved, **done, conclusion="success")
    started: dict[str, Any] = {"started": created + timedelta(minutes=3)}
    yield Fact(job_id=first_id + 60, **known, **started)
    yield Fact(job_id=first_id + 50, **known, **scheduled, **started, machine_died=created + timedelta(minutes=33))


def _fact(dice: random.Random, job_id: int) -> Fact:
    created = BEGIN + timedelta(seconds=dice.randrange(int((NOW - BEGIN).total_seconds()) - 60))
    known: dict[str, Any] = {
        "job_id": job_id,
        "repo": dice.choice(REPOSITORIES),
        "name": f"test {dice.randrange(4)}",
        "created": created,
        "received": created + timedelta(milliseconds=dice.randrange(200, 5000)),
    }
    at = created + timedelta(seconds=6)
    if dice.random() < 0.2:
        known["requested"] = at
        at += timedelta(seconds=dice.randrange(60, 20_000))
        known["approved"] = at
    if dice.random() < 0.1:  # never gets a runner
        ended = at + timedelta(seconds=dice.randrange(10, 4000))
        return _until_now(known | {"completed": ended, "conclusion": dice.choice(("cancelled", "skipped"))})
    if dice.random() < 0.8:
        known["machine"] = dice.choice(MACHINES)
        known["scheduled"] = at + timedelta(seconds=dice.randrange(1, 30))
    started = at + timedelta(seconds=dice.randrange(31, 600))
    ran = timedelta(
        seconds=dice.choice((0, dice.randrange(1, 90), dice.randrange(90, 7200), dice.randrange(7200, 200_000)))
    )
    known |= {"started": started, "completed": started + ran, "conclusion": dice.choice(CONCLUSIONS)}
    if known.get("machine") and ran > timedelta(minutes=20) and dice.random() < 0.3:
        known["machine_died"] = started + timedelta(seconds=dice.randrange(60, int(ran.total_seconds()) - 60))
        known["conclusion"] = "failure"
    if known["conclusion"] == "success" and dice.random() < 0.15:
        known["copies"] = (job_id + 1,)
    return _until_now(known)


def _until_now(known: dict[str, Any]) -> Fact:
    """Nothing later than now has been reported."""
    for name in ("requested", "approved", "scheduled", "started", "completed", "machine_died"):
        if name in known and known[name] > NOW:
            del known[name]
    if "completed" not in known:
        known |= {"conclusion": None, "copies": ()}
    if "scheduled" not in known:
        known.pop("machine", None)
    return Fact(**known)


def report(fact: Fact, ledger: Ledger, runners: RunnerTracker) -> None:
    """Report the job in order, as GitHub, a launcher and EC2 do."""
    for at, event, message in sorted(_webhooks(fact), key=lambda each: each[0]):
        _deliver(ledger, event, message, at)
        if event == "workflow_job" and message["action"] == "queued" and fact.scheduled and not _awaits(fact, at):
            _schedule(fact, runners)
    if fact.machine_died:
        place = Place(account_id=runner_events.ACCOUNT, region="us-east-1")
        runners.record_end(fact.runner_id, at=text(fact.machine_died), place=place)


def _awaits(fact: Fact, at: datetime) -> bool:
    """The first `queued` of a job that waits for an approval."""
    return fact.approved is not None and at < fact.approved


def _webhooks(fact: Fact) -> Iterator[tuple[datetime, str, dict[str, Any]]]:
    seconds = timedelta(seconds=1)
    yield fact.received, "workflow_job", _payload(fact, QUEUED)
    if fact.requested:
        yield fact.requested + seconds, "workflow_job", _payload(fact, WAITING)
        yield fact.requested + 2 * seconds, "deployment_review", _review(fact, "requested", fact.requested)
    if fact.approved:
        yield fact.approved + seconds, "deployment_review", _review(fact, "approved", fact.approved)
        yield fact.approved + 2 * seconds, "workflow_job", _payload(fact, QUEUED) | {"sender": {"login": "again"}}
    if fact.started:
        yield fact.started + seconds, "workflow_job", _payload(fact, IN_PROGRESS)
    if fact.completed:
        done = fact.completed + seconds
        yield done, "workflow_job", _payload(fact, COMPLETED)
        for number, job_id in enumerate(fact.copies):
            created = fact.completed + timedelta(minutes=10 + number)
            again: dict[str, Any] = {"job_id": job_id, "run_attempt": 2 + number, "created_at": text(created)}
            yield created + seconds, "workflow_job", _payload(fact, COMPLETED, **again)


def _payload(fact: Fact, step: str, *, job_id: int | None = None, **changes: object) -> dict[str, Any]:
    times: dict[str, object] = {"created_at": text(fact.created), "started_at": text(fact.created)}
    if step in (IN_PROGRESS, COMPLETED):
        runner = fact.runner_id if fact.machine else "a-runner-of-no-launcher"
        times |= {"started_at": text(fact.started or fact.completed or fact.created), "runner_name": runner}
        if not fact.started:
            times |= {"runner_id": None, "runner_name": None, "runner_group_id": None}
    if step == COMPLETED:
        assert fact.completed
        times |= {"completed_at": text(fact.completed), "conclusion": fact.conclusion}
    about = {"run_id": fact.run_id, "name": fact.name, "workflow_name": "CI", **times, **changes}
    message = payload(step, job_id=job_id or fact.job_id, **about)
    message["repository"]["full_name"] = fact.repo
    if fact.requested:
        message["deployment"] = {"id": fact.run_id, "environment": ENVIRONMENT}
    else:
        message.pop("deployment", None)
    return message


def _review(fact: Fact, action: str, at: datetime) -> dict[str, Any]:
    _, message = messages.review(action, environment=ENVIRONMENT, since=text(at), job_name=fact.name)
    message["workflow_run"]["id"] = fact.run_id
    message["repository"]["full_name"] = fact.repo
    return message


def _deliver(ledger: Ledger, event: str, message: dict[str, Any], at: datetime) -> None:
    body = json.dumps(message).encode()
    guid = f"{event} {message['action']} {at.isoformat()} {message.get('workflow_job', {}).get('id')}"
    delivery = Delivery(event=event, delivery_id=guid, body=body, received_at=text(at), received_by="a-log-stream")
    for each in dispatcher.read(delivery):
        ledger.dispatch(each)


def _schedule(fact: Fact, runners: RunnerTracker) -> None:
    assert fact.machine
    assert fact.scheduled
    machine = fact.machine
    event = runner_events.launcher(
        "runner_scheduled",
        job_id=fact.job_id,
        runner_id=fact.runner_id,
        run_id=fact.run_id,
        repo_full_name=fact.repo,
        pool_name=machine.pool,
        instance_lifecycle=machine.lifecycle,
        instance_type=machine.instance_type,
        price_per_hour=machine.price,
        on_demand_price_per_hour=machine.on_demand,
        installation_id=INSTALLATION,
    )
    runner_events.publish(event | {"time": text(fact.scheduled)}, runners)


def text(at: datetime) -> str:
    return at.isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"
