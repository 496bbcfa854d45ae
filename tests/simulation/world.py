"""A deployment in memory: tables, queues, a bus, a clock, and processes that run the real domain code on them."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from runledger.model.runner_names import TASK_ID
from runledger.platform import retries
from runledger.recording.follow_up_queue import FollowUpQueue
from runledger.recording.ledger import Ledger
from runledger.runners.tracker import RunnerTracker
from runledger.tables.runners import RunnersTable
from runledger.webhooks.intake import Intake
from runledger.webhooks.retry_queue import RetryQueue
from runledger.webhooks.signatures import WebhookSecrets

from tests.simulation import storage
from tests.simulation.calls import Client
from tests.simulation.choices import Choices
from tests.simulation.clock import Clock
from tests.simulation.engine import Engine
from tests.simulation.scheduler import Limits, Scheduler
from tests.simulation.services import Bus, Functions, Queues, Secrets, Sent
from tests.support.ledgers import RUNNERS, ledger_on
from tests.support.runner_events import SCOPE
from tests.support.settings import SETTINGS
from tests.support.webhooks import SECRET

PAUSE_SECONDS = 0.005


@dataclass(frozen=True, slots=True)
class State:
    """Everything that outlives a process."""

    now: float
    tables: storage.Snapshot
    messages: dict[str, tuple[str, ...]]
    entries: Sent
    invocations: Sent


class World:
    def __init__(self) -> None:
        self.clock = Clock()
        self.engine = Engine()
        self.queues = Queues()
        self.bus = Bus()
        self.functions = Functions()
        self.services: dict[str, Any] = {
            "dynamodb": self.engine,
            "sqs": self.queues,
            "events": self.bus,
            "lambda": self.functions,
            "secretsmanager": Secrets({SETTINGS["WEBHOOK_SECRETS"]: json.dumps({"current": SECRET})}),
        }
        self.scheduler = Scheduler(self.clock, Choices(), Limits())
        self.engine.lag = self._lag

    def client(self, service: str) -> Any:
        return Client(service, self.services[service], self._call)

    # The scheduler is replaced for each play, while clients and the engine stay.
    def _call(self, service: str, operation: str, arguments: Mapping[str, Any], effect: Callable[[], Any]) -> Any:
        return self.scheduler.call(service, operation, arguments, effect)

    def _lag(self, operation: str, table: str) -> int:
        return self.scheduler.lag(operation, table)

    def process(self, *, retries: bool = False) -> "Process":
        """A fresh one, which remembers nothing: as Lambda starts it, or starts it again after a crash."""
        return Process(self, retries=retries)

    def save(self) -> State:
        return State(
            self.clock.seconds,
            self.engine.snapshot(),
            dict(self.queues.messages),
            self.bus.entries,
            self.functions.invocations,
        )

    def restore(self, state: State) -> None:
        self.clock.seconds = state.now
        self.engine.restore(state.tables)
        self.queues.messages = dict(state.messages)
        self.bus.entries = state.entries
        self.functions.invocations = state.invocations


class Process:
    """The domain's objects, made when they are first used and wired as the functions wire them.

    `retries` is whether its messages were delivered before.
    """

    def __init__(self, world: World, *, retries: bool) -> None:
        self.world = world
        self._retries = retries

    @cached_property
    def ledger(self) -> Ledger:
        sqs = self.world.client("sqs")
        follow_ups = FollowUpQueue(
            sqs,
            lookups_url=SETTINGS["RUNNER_LOOKUPS_QUEUE"],
            reruns_url=SETTINGS["RERUN_CHECKS_QUEUE"],
            instance_pattern=SETTINGS["INSTANCE_ID_PATTERN"],
            task_pattern=TASK_ID,
        )
        return ledger_on(self.world.client("dynamodb"), follow_ups=follow_ups, pause=self._pause)

    @cached_property
    def runners(self) -> RunnerTracker:
        table = RunnersTable(self.world.client("dynamodb"), RUNNERS, retention_days=14)
        return RunnerTracker(table=table, record=self.ledger.record, undo_unsaved=self._undo_unsaved, scope=SCOPE)

    @cached_property
    def intake(self) -> Intake:
        return Intake(
            host="github.com",
            secrets=WebhookSecrets(
                self.world.client("secretsmanager"),
                SETTINGS["WEBHOOK_SECRETS"],
                clock=self.world.clock.now,
                ignored=_fail_on_malformed_secret,
            ),
            ledger=self.ledger,
            retries=RetryQueue(self.world.client("sqs"), SETTINGS["WEBHOOK_RETRIES_QUEUE"]),
        )

    def _undo_unsaved(self, job: tuple[int, int]) -> None:
        if self._retries or retries.is_retry():
            self.ledger.undo_unsaved_events(*job)

    def _pause(self, tries: int) -> None:
        self.world.scheduler.sleep(PAUSE_SECONDS * 2**tries)


def _fail_on_malformed_secret(entry: str, reason: str) -> None:
    raise AssertionError(f"webhook secret {entry}: {reason}")
