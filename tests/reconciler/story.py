"""What happens to a machine, and which webhooks and events about it arrive."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from runledger.model.follow_ups import RunnerLookup
from runledger.model.inputs import Receipt
from runledger.model.instance import Instance, RunnerKind
from runledger.model.prices import Price
from runledger.runners.lookups import MachineLookups

from tests.reconciler.lives import Life, Work
from tests.reconciler.orphans import name_of, ran_on
from tests.reconciler.stale_world import Registration, StaleWorld
from tests.reconciler.wiring import runners_on
from tests.support import runner_events
from tests.support.ledgers import RememberedFollowUps, ledger_on
from tests.support.webhooks import COMPLETED, IN_PROGRESS, receipt

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """`number` is the machine's, and its registration's; its jobs have ten times that and more."""

    world: StaleWorld
    dynamodb: "DynamoDBClient"
    number: int
    life: Life
    receipts: list[Receipt] = field(default_factory=list)

    @property
    def instance_id(self) -> str:
        return f"i-{self.number:017x}"

    def begin(self) -> None:
        life = self.life
        self.world.later(life.launched, self._launch)
        free_at = life.launched + life.registers_after
        self.world.later(free_at, self._register)
        for job_id, work in enumerate(life.work[:1] if life.ephemeral else life.work, start=10 * self.number):
            begins = free_at + work.idle_before
            free_at = begins + work.lasts
            self.world.later(begins, partial(self._start, job_id, work))

    @property
    def is_busy(self) -> bool:
        registration = self.world.registrations.get(self.number)
        return registration is not None and registration.busy

    @property
    def is_contested(self) -> bool:
        runner = runners_on(self.dynamodb).table.get(self.instance_id)
        return runner is not None and runner.contested_at is not None

    def _launch(self) -> None:
        self.world.machines.launch(self.instance_id, at=self.world.clock.at, tags=self.life.tags)
        if self.life.launcher_reports:
            event = runner_events.launcher("runner_scheduled", job_id=10 * self.number, runner_id=self.instance_id)
            runner_events.publish(event | {"time": self.world.clock.text()}, runners_on(self.dynamodb))

    def _register(self) -> None:
        if self._lives():
            self._put(busy=False)

    def _start(self, job_id: int, work: Work) -> None:
        """GitHub assigns jobs only to registered runners."""
        if self.number not in self.world.registrations or not self._lives():
            return
        self._put(busy=True)
        ran = {"started_at": self.world.clock.text()}
        self._receive(work.start_received_after, partial(self._webhook, IN_PROGRESS, job_id, ran))
        self.world.later(self.world.minute + work.lasts, partial(self._end, job_id, work, ran))

    def _end(self, job_id: int, work: Work, ran: dict[str, str]) -> None:
        if self.life.ephemeral:
            del self.world.registrations[self.number]
        else:
            self._put(busy=False)
        ran = ran | {"completed_at": self.world.clock.text()}
        self._receive(work.end_received_after, partial(self._webhook, COMPLETED, job_id, ran))

    def _webhook(self, step: str, job_id: int, ran: dict[str, str]) -> None:
        follow_ups = RememberedFollowUps()
        job = ran_on(self.instance_id, self.number) | ran
        received = receipt(step, job_id=job_id, guid=f"{step} {job_id}", **job)
        received = replace(received, received_at=self.world.clock.text())
        self.receipts.append(received)
        ledger_on(self.dynamodb, follow_ups=follow_ups).record(received)
        for queued in follow_ups.lookups:
            task = RunnerLookup(
                installation_id=queued.installation_id,
                job_id=queued.job_id,
                runner_id=self.instance_id,
                kind="ec2",
                repo_full_name=queued.repo_full_name,
                at=queued.last_updated_at,
            )
            MachineLookups(
                tracker=runners_on(self.dynamodb), find_machine=self.describe, find_price=lambda _: Price()
            ).look_up(task)

    def describe(self, *_: object) -> Instance | None:
        """What EC2 reports. It doesn't report a machine that was never launched."""
        if self.instance_id not in self.world.machines.now():
            return None
        gone = self.instance_id in self.world.machines.stops
        return Instance(
            runner_id=self.instance_id,
            kind=RunnerKind.EC2,
            state="terminated" if gone else "running",
            tags=self.life.tags,
        )

    def replay(self, *, guid: str) -> None:
        """An attacker delivers the newest webhook about this machine again, under another id."""
        if self.receipts:
            ledger_on(self.dynamodb).record(
                replace(self.receipts[-1], delivery_id=guid, received_at=self.world.clock.text())
            )

    def _receive(self, after: int | None, happens: Callable[[], None]) -> None:
        if after is not None:
            self.world.later(self.world.minute + after, happens)

    def _put(self, *, busy: bool) -> None:
        registration = Registration(id=self.number, name=name_of(self.instance_id), busy=busy)
        self.world.registrations[self.number] = registration

    def _lives(self) -> bool:
        return self.instance_id not in self.world.machines.stops
