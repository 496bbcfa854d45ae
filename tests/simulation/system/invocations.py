"""Invocations under way, messages in queues, and the services that start both."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.simulation.calls import Fault
from tests.simulation.services import Functions, Queues
from tests.simulation.storage import Key, Storage
from tests.simulation.values import Item
from tests.support.settings import SETTINGS

CONSUMERS = {
    SETTINGS["RUNNER_LOOKUPS_QUEUE"]: "runner_lookup",
    SETTINGS["RERUN_CHECKS_QUEUE"]: "run_retry",
    SETTINGS["WEBHOOK_RETRIES_QUEUE"]: "webhook_retry",
}


@dataclass
class Invocation:
    """One of a function. `faults` are those of its calls, by number."""

    name: str
    function: str
    event: dict[str, Any]
    deadline: float
    done: Callable[["Invocation"], None]
    faults: dict[int, Fault] = field(default_factory=dict)
    started: float = 0
    calls: int = 0
    disturbed: bool = False
    killed: bool = False
    rejected: bool = False
    result: Any = None
    errors: list[BaseException] = field(default_factory=list)

    @property
    def failed(self) -> bool:
        return self.killed or bool(self.errors)


@dataclass(frozen=True, slots=True)
class Message:
    """One of SQS. `tries` are those that failed although nothing disturbed them."""

    function: str
    body: str
    about: str
    sent_at: int
    receives: int = 1
    tries: int = 0


class ObservedStorage(Storage):
    """Calls `written` after each write, with the item before and after it."""

    written: Callable[[str, Key, Item | None, Item | None], None] = staticmethod(lambda *_: None)

    def write(self, table: str, key: Key, item: Item | None) -> None:
        before = self._items[table].get(key)
        super().write(table, key, item)
        self.written(table, key, before, item)


class SentQueues(Queues):
    def __init__(self, sent: Callable[[str, str], None]) -> None:
        super().__init__()
        self._sent = sent

    def send_message(self, *, QueueUrl: str, MessageBody: str) -> dict[str, str]:  # noqa: N803
        self._sent(CONSUMERS[QueueUrl], MessageBody)
        return {"MessageId": "m1"}


class InvokedFunctions(Functions):
    def __init__(self, invoked: Callable[[bytes], None]) -> None:
        super().__init__()
        self._invoked = invoked

    def invoke(self, *, FunctionName: str, InvocationType: str, Payload: bytes) -> dict[str, Any]:  # noqa: N803
        self._invoked(Payload)
        return super().invoke(FunctionName=FunctionName, InvocationType=InvocationType, Payload=Payload)
