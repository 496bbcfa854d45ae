"""Signed, but hostile: whatever stands in a payload, it is recorded or refused as a whole, and nothing crashes.

Every path of GitHub's own example payloads is replaced by every hostile value. The readers are pure, so they are given
all of them. Of one example for each event and action, the handler with its tables is given each payload that the
readers tell apart from the others.
"""

import copy
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from runledger.model import payload
from runledger.model.errors import Malformed
from runledger.model.inputs import Receipt
from runledger.platform import clients
from runledger.webhooks import retry_queue
from runledger.webhooks.readers import dispatcher
from runledger.webhooks.readers.dispatcher import READERS

from local.github.examples import payloads
from tests.functions.conftest import World
from tests.security.hostile_values import (
    HOSTILE,
    NAMES,
    TOO_DEEP,
    TOO_MANY_DIGITS,
    Case,
    at,
    paths,
    put,
    replaced,
)
from tests.support import messages, runner_events
from tests.support.beds import dump
from tests.support.webhooks import COMPLETED, JOB, QUEUED, QUEUED_AGAIN, delivery, http_event
from tests.support.webhooks import payload as job_payload

LARGEST_ITEM_WE_STORE = 64 * 1024
TYPICAL: list[messages.Message] = [
    *(messages.run("completed"), messages.deployment(), messages.deployment_status("waiting", job_id=JOB)),
    *(messages.review("requested"), messages.review("approved"), messages.protection_rule()),
    *(messages.installation("suspend"), messages.installation("deleted")),
    # Last: a review is written to every job that waits for it.
    *(("workflow_job", job_payload(step)) for step in (QUEUED_AGAIN, COMPLETED)),
]


def githubs() -> Iterator[messages.Message]:
    """Each shape once."""
    seen = set()
    for event in READERS:
        for message in payloads(event):
            shape = (event, message.get("action"), *sorted(map(str, paths(message))))
            if shape not in seen:
                seen.add(shape)
                yield event, message


GITHUBS = list(githubs())


class Parsed:
    """Stands where the body is parsed, so that a hundred thousand payloads need not be written and parsed again."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._message: object = None
        monkeypatch.setattr(payload, "parse", lambda _body: self._message)

    def read(self, event: str, message: object) -> str:
        """What the readers make of it."""
        self._message = message
        try:
            found = dispatcher.read(delivery({}, guid="g", event=event))
        except Malformed as refusal:
            return f"refused: {refusal}"
        return repr(found)


def mutations(examples: list[messages.Message], monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Case, str]]:
    """All of them, each with what the readers make of it."""
    with monkeypatch.context() as patched:
        parsed = Parsed(patched)
        for event, message in examples:
            changed = copy.deepcopy(message)
            for path in list(paths(message)):
                for value in HOSTILE.values():
                    put(changed, path, value)
                    case = Case(event=event, message=message, path=path, value=value)
                    yield case, f"{event} {parsed.read(event, changed)}"
                put(changed, path, copy.deepcopy(at(message, path)))


@contextmanager
def calls_to_dynamodb() -> Iterator[list[str]]:
    calls: list[str] = []

    def note(model: Any, **_: object) -> None:
        calls.append(model.name)

    events = clients.client("dynamodb").meta.events
    events.register("before-call.dynamodb", note)
    yield calls
    events.unregister("before-call.dynamodb", note)


def status_of(world: World, event: str, body: bytes, number: int = 0) -> int:
    request = http_event(body, event=event, guid=f"guid {number}")
    return int(world.invoke("webhook_intake", request)["statusCode"])


def test_the_readers_refuse_or_read_whatever_stands_at_any_path(monkeypatch: pytest.MonkeyPatch) -> None:
    results = [result for _, result in mutations(GITHUBS, monkeypatch)]
    assert len(results) > 100_000
    assert any("refused" in result for result in results)


def test_whatever_stands_at_any_path_is_recorded_or_refused_as_a_whole(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused, read = dict[str, Case](), dict[str, Case]()
    for case, result in mutations(TYPICAL, monkeypatch):
        (refused if "refused: " in result else read).setdefault(result, case)
    assert len(refused) > 50
    assert len(read) > 300
    assert status_of(world, "ping", b"{}") == 200
    with calls_to_dynamodb() as calls:
        for number, case in enumerate(refused.values()):
            assert status_of(world, case.event, case.body(number), number) == 400, case
    assert calls == []
    for number, case in enumerate(read.values()):
        assert status_of(world, case.event, case.body(number), number) in (200, 202), case
    largest = max(len(json.dumps(item, default=str)) for found in dump(world.dynamodb).values() for item in found)
    assert largest < LARGEST_ITEM_WE_STORE
    assert world.deferred() == []


@pytest.mark.parametrize(("event", "message"), TYPICAL, ids=lambda value: value if isinstance(value, str) else "")
@pytest.mark.parametrize("hostile", [TOO_MANY_DIGITS, TOO_DEEP], ids=["too many digits", "too deep"])
def test_what_cannot_be_parsed_is_refused_wherever_it_stands(
    world: World, event: str, message: dict[str, Any], hostile: str
) -> None:
    for path in [path for path in paths(message) if len(path) == 1]:
        body = json.dumps(replaced(message, path, "HOSTILE")).replace('"HOSTILE"', hostile).encode()
        assert status_of(world, event, body) == 400
    assert not any(dump(world.dynamodb).values())


def test_a_number_of_any_length_after_the_point_is_no_id(world: World) -> None:
    for number in ("1." + "0" * 10_000, "1e400", "-1e400", "1E-999999999"):
        body = json.dumps(job_payload(QUEUED) | {"workflow_job": "HOSTILE"}).replace('"HOSTILE"', f'{{"id": {number}}}')
        assert status_of(world, "workflow_job", body.encode()) == 400
    assert not any(dump(world.dynamodb).values())


@pytest.mark.parametrize(("name", "allowed"), NAMES.items(), ids=NAMES)
def test_repository_names_are_githubs(name: str, allowed: bool) -> None:
    assert payload.is_repository_name(name) is allowed


@pytest.mark.parametrize(
    "message",
    [
        ("workflow_job", job_payload(QUEUED)),
        messages.run("completed"),
        messages.deployment(),
        messages.deployment_status("waiting"),
        messages.protection_rule(),
        messages.review("approved"),
    ],
    ids=lambda message: message[0],
)
def test_a_repository_that_cannot_exist_is_refused_by_name(world: World, message: messages.Message) -> None:
    event, body = message
    for name in ("..", "../..", "owner/..", "owner/name/..", "owner"):
        body["repository"]["full_name"] = name
        refusal = world.invoke("webhook_intake", http_event(json.dumps(body).encode(), event=event))
        assert refusal["statusCode"] == 400
        assert json.loads(refusal["body"])["detail"].startswith("repository.full_name must be a valid owner/name")
    assert not any(dump(world.dynamodb).values())


@pytest.mark.parametrize("function", ["scheduling_events", "instance_state", "spot_interruption", "webhook_retry"])
@pytest.mark.parametrize(
    "hostile", [TOO_MANY_DIGITS, TOO_DEEP, "NaN", "[]", "null", '"text"', "{", "{}", '{"detail": 7}']
)
def test_a_hostile_message_of_a_queue_fails_alone(world: World, function: str, hostile: str) -> None:
    """It ends in the dead-letter queue, with its reason in the log; its neighbour is recorded."""
    good = {
        "scheduling_events": json.dumps(runner_events.launcher("runner_scheduled")),
        "instance_state": json.dumps(runner_events.instance_state("running", minute=1)),
        "spot_interruption": json.dumps(runner_events.interruption()),
        "webhook_retry": retry_queue.to_message(_receipt()),
    }[function]
    bodies = {"hostile": hostile, "good": good}
    records = [{"messageId": name, "body": body, "eventSource": "aws:sqs"} for name, body in bodies.items()]
    failed = world.invoke(function, {"Records": records})["batchItemFailures"]
    assert failed == [{"itemIdentifier": "hostile"}]
    assert any(dump(world.dynamodb).values())


def _receipt() -> Receipt:
    (found,) = dispatcher.read(delivery(job_payload(QUEUED), guid="g"))
    assert isinstance(found, Receipt)
    return found
