"""Signed, but hostile: whatever stands in a payload, it is recorded or refused as a whole, and nothing crashes.

Every path of GitHub's own example payloads is replaced by every hostile value. The readers are pure, so they are given
all of them. Of one example for each event and action, the handler with its tables is given each payload that the
readers tell apart from the others.
"""

import copy
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from runledger.model import payload
from runledger.model.errors import Malformed
from runledger.model.inputs import Receipt
from runledger.platform import clients
from runledger.webhooks import retry_queue
from runledger.webhooks.readers import webhooks
from runledger.webhooks.readers.webhooks import READERS

from local.github.examples import payloads
from tests.api.client import Client
from tests.functions.conftest import World
from tests.support import messages, runner_events
from tests.support.beds import dump
from tests.support.webhooks import COMPLETED, INSTALLATION, JOB, QUEUED, QUEUED_AGAIN, RUN, delivery, http_event
from tests.support.webhooks import payload as job_payload

Path = tuple[str | int, ...]

LONG, DEEP = 100_000, 500
TOO_MANY_DIGITS, TOO_DEEP = "9" * 10_000, "[" * LONG + "]" * LONG
LARGEST_ITEM_WE_STORE = 64 * 1024


def nested(depth: int) -> list[Any]:
    found: list[Any] = []
    for _ in range(depth):
        found = [found]
    return found


HOSTILE: dict[str, object] = {
    "null": None,
    "true": True,
    "false": False,
    "zero": 0,
    "negative": -1,
    "one": 1,
    "fraction": 1.5,
    "beyond every clock": 10**18,
    "beyond 64 bits": 10**30,
    "huge": 1e308,
    "NaN": float("nan"),
    "Infinity": float("inf"),
    "-Infinity": float("-inf"),
    "empty text": "",
    "a word": "word",
    "digits": "17",
    "long text": "y" * LONG,
    "NUL": "\0",
    "half a character": "\ud83d",
    "every kind of character": "\N{PILE OF POO}\u202e\u200f <script> ${jndi:x} '; --",
    "dot segments": "../..",
    "a year beyond reason": "9999-12-31T23:59:59-14:00",
    "the first year": "0001-01-01T00:00:00+14:00",
    "empty list": [],
    "list of texts": ["word"],
    "list of objects": [{"id": 1}, None, 7],
    "long list": list(range(1000)),
    "deep list": nested(DEEP),
    "empty object": {},
    "object": {"id": -1, "state": {}, "login": []},
}


@dataclass(frozen=True, kw_only=True)
class Case:
    event: str
    message: dict[str, Any]
    path: Path
    value: object

    def body(self, number: int) -> bytes:
        """Of a job and a run of its own, so that neither grows with every case."""
        message = replaced(self.message, self.path, self.value)
        job = message.get("workflow_job")
        for name, first in (("id", JOB), ("run_id", RUN)):
            if isinstance(job, dict) and self.path not in (("workflow_job",), ("workflow_job", name)):
                job[name] = first + number
        return json.dumps(message).encode()


def replaced(message: dict[str, Any], path: Path, value: object) -> dict[str, Any]:
    changed = copy.deepcopy(message)
    put(changed, path, value)
    return changed


def put(message: Any, path: Path, value: object) -> None:
    for step in path[:-1]:
        message = message[step]
    message[path[-1]] = value


def at(message: Any, path: Path) -> Any:
    for step in path:
        message = message[step]
    return message


def paths(value: object, before: Path = ()) -> Iterator[Path]:
    """Of every object, list and value; of a list, those in its first entry."""
    if before:
        yield before
    if isinstance(value, dict):
        for name in value:
            yield from paths(value[name], (*before, name))
    elif isinstance(value, list) and value:
        yield from paths(value[0], (*before, 0))


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
            found = webhooks.read(delivery({}, guid="g", event=event))
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


def answer(world: World, event: str, body: bytes, number: int = 0) -> int:
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
    assert answer(world, "ping", b"{}") == 200
    with calls_to_dynamodb() as calls:
        for number, case in enumerate(refused.values()):
            assert answer(world, case.event, case.body(number), number) == 400, case
    assert calls == []
    for number, case in enumerate(read.values()):
        assert answer(world, case.event, case.body(number), number) in (200, 202), case
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
        assert answer(world, event, body) == 400
    assert not any(dump(world.dynamodb).values())


def test_a_number_of_any_length_after_the_point_is_no_id(world: World) -> None:
    for number in ("1." + "0" * 10_000, "1e400", "-1e400", "1E-999999999"):
        body = json.dumps(job_payload(QUEUED) | {"workflow_job": "HOSTILE"}).replace('"HOSTILE"', f'{{"id": {number}}}')
        assert answer(world, "workflow_job", body.encode()) == 400
    assert not any(dump(world.dynamodb).values())


NAMES = {
    "owner/name": True,
    "o/n": True,
    "octo-org/.github": True,
    "octo_corp/a.b_c-d": True,
    "owner/..name": True,
    "owner/...": True,
    "owner/..": False,
    "owner/.": False,
    "../name": False,
    "./name": False,
    "..": False,
    "owner": False,
    "owner/": False,
    "/name": False,
    "owner/name/more": False,
    "owner/na me": False,
    "owner/name\n": False,
    "owner/na#me": False,
    "owner/na%2fme": False,
    "ow.ner/name": False,
    "owner/n\u00e4me": False,
    "owner/\u0663": False,
    "owner/name?x=1": False,
}


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
    (found,) = webhooks.read(delivery(job_payload(QUEUED), guid="g"))
    assert isinstance(found, Receipt)
    return found


BODIES = [
    (f'{{"pass": {TOO_MANY_DIGITS}}}', 400),
    (f'{{"other": {TOO_MANY_DIGITS}}}', 400),
    (f'{{"run_attempt": {TOO_MANY_DIGITS}}}', 400),
    (TOO_MANY_DIGITS, 400),
    (TOO_DEEP, 400),
    ('{"pass": NaN}', 400),
    ('{"pass": "\\ud800"}', 400),
    ('{"pass": []}', 400),
    ("{", 400),
]


@pytest.mark.parametrize(("body", "status"), BODIES, ids=[body[:30] for body, _ in BODIES])
def test_a_hostile_body_of_an_order_is_refused(
    api: Client, pass_requests: list[dict[str, Any]], body: str, status: int
) -> None:
    refusal = api.ask("POST", "/admin/reconciliation/run", body=body)
    assert (refusal.status, refusal.body["status"]) == (status, status)
    assert pass_requests == []


def test_a_rerun_with_too_many_digits_is_refused(world: World, api: Client) -> None:
    answer(world, "workflow_job", json.dumps(job_payload(QUEUED)).encode())
    path = f"/v1/installations/{INSTALLATION}/runs/{RUN}/rerun"
    for number, status in ((TOO_MANY_DIGITS, 400), ("1e400", 400), ("NaN", 400), ("9" * 4000, 409)):
        assert api.ask("POST", path, body=f'{{"run_attempt": {number}}}').status == status


@pytest.mark.parametrize("repo", [name for name, allowed in NAMES.items() if not allowed])
def test_a_parameter_that_is_no_repository_is_refused(api: Client, world: World, repo: str) -> None:
    answer(world, "workflow_job", json.dumps(job_payload(QUEUED)).encode())
    for path in ("jobs", "statistics"):
        assert api.get(f"/v1/installations/{INSTALLATION}/{path}", repo=repo).status == 400


def test_hostile_numbers_in_paths_and_queries_are_refused(api: Client, world: World) -> None:
    answer(world, "workflow_job", json.dumps(job_payload(QUEUED)).encode())
    jobs = f"/v1/installations/{INSTALLATION}/jobs"
    for number in (TOO_MANY_DIGITS, f"-{TOO_MANY_DIGITS}", "NaN", "1e5", "\u0663", str(2**63), "0x10"):
        assert api.get(f"/v1/installations/{number}/jobs", status="queued").status in (400, 404)
        assert api.get(f"{jobs}/{number}").status in (400, 404)
        assert api.get(jobs, run_id=number).status == 400
        assert api.get(jobs, status="queued", limit=number).status == 400


def test_an_address_that_names_no_repository_is_refused(api: Client) -> None:
    for path in ("../b/actions/runs/1", "a/../actions/runs/1", "a/b/actions/runs/" + TOO_MANY_DIGITS):
        assert api.get("/v1/jobs/lookup", url=f"https://github.com/{path}").status == 400
