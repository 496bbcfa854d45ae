"""Passes, persons and late events compete for one orphan, many times on DynamoDB Local: it is stopped once."""

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.config import Config
from runledger.model.follow_ups import RunnerLookup
from runledger.model.prices import Price
from runledger.model.runner import RunnerStatus
from runledger.runners import aws_events
from runledger.runners.lookups import MachineLookups

from local.github import SimulatedGitHub
from tests.reconciler.machines import Machines, NoTasks
from tests.reconciler.orphans import outlived, ran_on, register, terminations
from tests.reconciler.watching import watch_client
from tests.reconciler.wiring import (
    GRACE_MINUTES,
    TAGS,
    Clock,
    app_of,
    check_runners,
    clean,
    cleanup_on,
    runners_on,
)
from tests.support import runner_events
from tests.support.ledgers import ledger_on
from tests.support.webhooks import COMPLETED, INSTALLATION, REPO, receipt

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

pytestmark = pytest.mark.server

ROUNDS = 15  # `tests/simulation` plays every order of the same calls
SEED = 20250115
LONGEST_PAUSE_SECONDS = 0.004
CLEANERS = ("a pass", "another pass", "a person")


class Pauses:
    """Pauses before each call, so that the order of calls differs between rounds."""

    def __init__(self, dice: random.Random) -> None:
        self._dice = dice

    def before(self, _call: str) -> None:
        time.sleep(self._dice.uniform(0, LONGEST_PAUSE_SECONDS))

    def after(self, _call: str) -> None:
        pass


class AnnouncedStops(Machines):
    """EC2 publishes its events on the bus while the caller continues."""

    def __init__(self, pauses: Pauses, announce: Callable[[str], None]) -> None:
        super().__init__(pauses)
        self._announce = announce

    def stop(self, instance_id: str) -> None:
        super().stop(instance_id)
        self._announce(instance_id)


@dataclass(kw_only=True)
class Arena:
    dynamodb: "DynamoDBClient"
    github: SimulatedGitHub
    pool: ThreadPoolExecutor
    dice: random.Random
    clock: Clock = field(default_factory=Clock)
    announced: list[Future[None]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.pauses = Pauses(self.dice)
        self.machines = AnnouncedStops(self.pauses, self._stopping)
        self._apps = {owner: app_of(self.github, self.pauses) for owner in CLEANERS}

    def cleanup(self, owner: str) -> Any:
        return cleanup_on(
            self.dynamodb,
            ec2=self.machines,
            ecs=NoTasks(),
            app=self._apps[owner],
            clock=self.clock,
        )

    def receive(self, job_id: int, instance_id: str) -> None:
        """The end of the job again: redelivered, or for the first time by another hook, which is news of today."""
        guid = self.dice.choice([f"completed {job_id}", f"completed {job_id}, sent by another hook"])
        late = receipt(COMPLETED, job_id=job_id, guid=guid, **ran_on(instance_id, job_id))
        ledger_on(self.dynamodb).record(replace(late, received_at=self.clock.text()))

    def happen(self, job_id: int, instance_id: str) -> None:
        """Late news of the runner: that its machine runs, or that its job has taken it."""
        runners = runners_on(self.dynamodb)
        if self.dice.random() < 0.5:
            aws_events.record(runner_events.instance_state("running", runner_id=instance_id), runners)
            return
        lookup = RunnerLookup(
            installation_id=INSTALLATION,
            job_id=job_id,
            runner_id=instance_id,
            kind="ec2",
            repo_full_name=REPO,
            at="2025-01-15T10:02:31.000Z",
        )
        MachineLookups(tracker=runners, find_machine=lambda *_: None, find_price=lambda _: Price()).look_up(lookup)

    def _stopping(self, instance_id: str) -> None:
        event = runner_events.instance_state("shutting-down", runner_id=instance_id)
        event["time"] = self.clock.text()
        self.announced.append(self.pool.submit(aws_events.record, event, runners_on(self.dynamodb)))


@pytest.fixture
def arena(dynamodb_local_url: str, github: SimulatedGitHub) -> Iterator[Arena]:
    dice = random.Random(SEED)  # noqa: S311
    config = Config(max_pool_connections=16)
    client = boto3.client("dynamodb", endpoint_url=dynamodb_local_url, config=config)
    with closing(client), ThreadPoolExecutor(max_workers=8) as pool:
        yield Arena(dynamodb=watch_client(client, Pauses(dice)), github=github, pool=pool, dice=dice)


def race(arena: Arena, job_id: int, instance_id: str) -> None:
    work: list[Callable[[], object]] = [
        lambda: check_runners(arena.cleanup("a pass"), pass_id="a pass"),
        lambda: check_runners(arena.cleanup("another pass"), pass_id="another pass"),
        lambda: clean(arena.cleanup("a person"), instance_id, pass_id="a person"),
        lambda: arena.receive(job_id, instance_id),
        lambda: arena.happen(job_id, instance_id),
    ]
    arena.dice.shuffle(work)
    for racer in [arena.pool.submit(each) for each in work]:
        racer.result()
    settle(arena)


def settle(arena: Arena) -> None:
    while arena.announced:
        arena.announced.pop().result()


def test_an_orphan_is_stopped_once_by_concurrent_cleaners(arena: Arena, dynamodb_local: "DynamoDBClient") -> None:
    """A webhook of its job that arrives meanwhile may clear the suspicion. Then a later pass stops it."""
    owners: Counter[str | None] = Counter()
    for job_id in range(1, ROUNDS + 1):
        arena.clock = Clock()
        instance_id = f"i-{job_id:017x}"
        arena.machines.launch(instance_id, at=arena.clock.at - timedelta(hours=2), tags=TAGS)
        register(arena.github, instance_id, runner_id=job_id)
        outlived(dynamodb_local, instance_id, job_id=job_id, suspected_at=arena.clock.text(minutes=GRACE_MINUTES + 1))
        race(arena, job_id, instance_id)
        table = runners_on(dynamodb_local).table
        later_passes = 0
        while (runner := table.get(instance_id)) and runner.status is not RunnerStatus.CLEANED:
            later_passes += 1
            assert later_passes <= 3, runner
            arena.clock.move(minutes=GRACE_MINUTES + 1)
            check_runners(arena.cleanup("a pass"), pass_id="a later pass")
            settle(arena)
        assert runner is not None
        owners[runner.cleaning_owner] += 1
        assert arena.machines.stops.count(instance_id) == 1
        assert terminations(dynamodb_local, job_id) == 1
        assert job_id not in arena.github.state.runners
    assert len(owners) > 1  # they really raced
