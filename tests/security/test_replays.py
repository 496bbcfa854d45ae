"""Old deliveries, sent again by an attacker with their signed bodies: headers can be changed, bodies can't."""

import copy
import json
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest
from runledger.recording.decision import WEBHOOKS_AT_MOST
from runledger.webhooks.readers.dispatcher import READERS

from local.github.examples import payloads
from tests.functions.conftest import World
from tests.support import messages
from tests.support.beds import dump, items
from tests.support.ledgers import DEPLOYMENTS, EVENTS, JOBS, RUNS
from tests.support.messages import Message
from tests.support.webhooks import (
    COMPLETED,
    DEPLOYMENT,
    IN_PROGRESS,
    INSTALLATION,
    JOB,
    LIFE,
    QUEUED,
    QUEUED_AGAIN,
    RUN,
    WAITING,
    http_event,
    payload,
)

TEN_O_CLOCK_MS = 1_736_935_200_123
REPLAYS = 60
# What changes when a report is received again: the time of the last report, and how long the item is kept.
CHANGED_BY_ANY_RECEIPT = {"checked_at", "ttl", "queued_reported_at", "version"}


class Sender:
    """Every delivery is sent a second after the last, under an id of its own unless one is given."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._seconds = count()

    def send(self, message: object, *, event: str = "workflow_job", guid: str | None = None) -> tuple[int, str]:
        second = next(self._seconds)
        request = http_event(
            json.dumps(message).encode(),
            event=event,
            guid=guid or f"guid {second}",
            at_epoch_ms=TEN_O_CLOCK_MS + second * 1000,
        )
        response = self._world.invoke("webhook_intake", request)
        body = json.loads(response["body"])
        return response["statusCode"], body.get("result") or body["detail"]

    def report(self, message: Message) -> tuple[int, str]:
        event, body = message
        return self.send(body, event=event)


@pytest.fixture
def sender(world: World) -> Sender:
    return Sender(world)


def job(world: World) -> dict[str, Any]:
    return next(item for item in items(world.dynamodb, JOBS) if item["PK"] == f"{INSTALLATION}#{JOB}")


def status(world: World) -> str:
    return str(job(world)["status"])


def test_sixty_replays_under_new_ids_change_nothing_of_the_job(world: World, sender: Sender) -> None:
    for step in (QUEUED, WAITING, QUEUED_AGAIN):
        sender.send(payload(step))
    before = job(world)
    for number in range(REPLAYS):
        assert sender.send(payload((WAITING, QUEUED, QUEUED_AGAIN)[number % 3])) == (202, "duplicate")
    assert job(world) == before
    assert sum(1 for line in items(world.dynamodb, EVENTS) if line.get("duplicate")) == REPLAYS


def test_redelivery_retry_and_second_queued_are_distinguished_after_replays(world: World, sender: Sender) -> None:
    sender.send(payload(QUEUED), guid="first queued")
    sender.send(payload(WAITING))
    for _ in range(REPLAYS):
        sender.send(payload(WAITING))
    assert sender.send(payload(QUEUED), guid="first queued") == (202, "duplicate")
    assert status(world) == "waiting"
    assert sender.send(payload(QUEUED), guid="second queued") == (202, "recorded")
    assert status(world) == "queued"
    assert sender.send(payload(WAITING)) == (202, "duplicate")
    assert status(world) == "queued"


def test_a_completed_job_ignores_every_replay(world: World, sender: Sender) -> None:
    for step in LIFE:
        sender.send(payload(step))
    before = {name: found for name, found in dump(world.dynamodb).items() if name != EVENTS}
    for step in LIFE * 3:
        assert sender.send(payload(step)) == (202, "duplicate")
    assert {name: found for name, found in dump(world.dynamodb).items() if name != EVENTS} == before


def test_the_memory_of_a_job_is_bounded(world: World, sender: Sender) -> None:
    """Nine bytes each, so that the item costs one write unit more at most."""
    for number in range(WEBHOOKS_AT_MOST + 10):
        sender.send(payload(QUEUED, check_run_url=f"of hook {number}"))
    for step in (IN_PROGRESS, COMPLETED):
        assert sender.send(payload(step)) == (202, "recorded")
    assert status(world) == "completed"
    assert len(bytes(job(world)["inputs"])) == 1 + 9 * (WEBHOOKS_AT_MOST + 2)


def test_the_retry_queue_carries_what_makes_a_replay_known(
    world: World, sender: Sender, monkeypatch: pytest.MonkeyPatch
) -> None:
    intake = world.start("webhook_intake")
    with monkeypatch.context() as throttled:
        throttled.setattr(intake.intake.ledger.events._table.client, "put_item", _throttled(intake))
        assert sender.send(payload(QUEUED)) == (202, "deferred")
    assert world.invoke("webhook_retry", {"Records": world.deferred()}) == {"batchItemFailures": []}
    before = job(world)
    assert sender.send(payload(QUEUED)) == (202, "duplicate")
    # It may be the `queued` after an approval whose `waiting` is late, so the time of the report counts.
    assert timeless(job(world)) == timeless(before)


def _throttled(intake: Any) -> Any:
    def raising(**_: object) -> None:
        raise intake.intake.ledger.events._table.client.exceptions.ProvisionedThroughputExceededException(
            {"Error": {"Code": "ProvisionedThroughputExceededException", "Message": "slow down"}}, "PutItem"
        )

    return raising


def used_bodies() -> Iterator[tuple[str, dict[str, Any]]]:
    """GitHub's examples of all events that are used, and ours of those that it has none of; each action once."""
    seen = set()
    ours = [messages.review("approved"), messages.review("rejected"), messages.protection_rule()]
    theirs = [(event, body) for event in READERS for body in payloads(event)]
    steps = [("workflow_job", payload(step)) for step in LIFE]
    for event, body in [*ours, *steps, *theirs]:
        key = (event, body.get("action"), *sorted(body))
        if key not in seen:
            seen.add(key)
            yield event, body | ({} if event.startswith("installation") else {"installation": {"id": INSTALLATION}})


BODIES = list(used_bodies())


@pytest.mark.parametrize("header", READERS)
def test_a_body_under_the_header_of_another_event_changes_nothing(world: World, sender: Sender, header: str) -> None:
    for event, body in BODIES:
        if event == header or {event, header} == {"installation", "installation_repositories"}:
            continue
        assert sender.send(body, event=header)[0] in (200, 400), event
    assert not any(dump(world.dynamodb).values())


def test_the_response_reports_that_header_and_body_do_not_match(sender: Sender) -> None:
    status, problem = sender.send(payload(COMPLETED), event="workflow_run")
    assert status == 400
    assert problem == "X-GitHub-Event is workflow_run, but the body describes a workflow_job event"


@pytest.mark.parametrize("header", ["installation", "installation_repositories"])
@pytest.mark.parametrize("action", ["created", "deleted", "suspend", "added"])
def test_a_body_of_an_event_that_we_do_not_use_changes_no_installation(
    world: World, sender: Sender, header: str, action: str
) -> None:
    """Every body that an App receives names its installation, and many have such an action."""
    sender.report(messages.installation("suspend"))
    before = dump(world.dynamodb)
    star = {"action": action, "starred_at": None, "installation": {"id": INSTALLATION, "node_id": "MDIz"}}
    assert sender.send(star, event=header)[0] == 400
    assert dump(world.dynamodb) == before


def timeless(found: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in found.items() if name not in CHANGED_BY_ANY_RECEIPT}


def run(world: World) -> dict[str, Any]:
    return next(item for item in items(world.dynamodb, RUNS) if item["PK"] == f"{INSTALLATION}#{RUN}#1")


def test_no_replayed_run_moves_the_run_back(world: World, sender: Sender) -> None:
    for action in ("requested", "in_progress", "completed"):
        sender.report(messages.run(action))
        before = timeless(run(world))
        for replayed in ("requested", "in_progress", "completed"):
            if action in (replayed, "completed") or replayed == "requested":
                assert sender.report(messages.run(replayed))[0] == 202
                assert timeless(run(world)) == before
    assert run(world)["status"] == "completed"


def test_a_run_that_completes_twice_keeps_its_last_conclusion(world: World, sender: Sender) -> None:
    """A run of a fork completes as action_required, and after its approval with its own conclusion, in one attempt."""
    event, last = messages.run("completed")
    first = copy.deepcopy(last)
    first["workflow_run"] |= {"conclusion": "action_required", "updated_at": "2025-01-15T10:00:40Z"}
    for body in (first, last):
        sender.send(body, event=event)
    before = timeless(run(world))
    assert before["conclusion"] == "success"
    sender.send(first, event=event)
    assert timeless(run(world)) == before


def deployment(world: World) -> dict[str, Any]:
    return next(item for item in items(world.dynamodb, DEPLOYMENTS) if item["PK"] == f"{INSTALLATION}#{DEPLOYMENT}")


@pytest.mark.parametrize("decision", ["approved", "rejected"])
def test_no_replayed_request_or_status_takes_a_decision_back(world: World, sender: Sender, decision: str) -> None:
    sender.send(payload(QUEUED_AGAIN))
    old = [
        messages.deployment(),
        messages.deployment_status("waiting", job_id=JOB),
        messages.protection_rule(),
        messages.review("requested"),
    ]
    for each in [*old, messages.review(decision)]:
        sender.report(each)
    before, lines, known = timeless(deployment(world)), len(items(world.dynamodb, EVENTS)), job(world)
    assert before["status"] == decision
    for each in [*old, messages.review(decision)]:
        assert sender.report(each)[0] == 202
    assert timeless(deployment(world)) == before
    assert job(world) == known
    added = [line for line in items(world.dynamodb, EVENTS) if line.get("duplicate")]
    assert len(added) == len(items(world.dynamodb, EVENTS)) - lines == 2


def test_sixty_replays_of_a_review_do_not_grow_the_job(world: World, sender: Sender) -> None:
    sender.send(payload(QUEUED_AGAIN))
    sender.report(messages.review("approved"))
    before = job(world)
    for _ in range(REPLAYS):
        sender.report(messages.review("approved"))
    assert job(world) == before


def installation(world: World) -> dict[str, Any]:
    return next(item for item in items(world.dynamodb, JOBS) if item["PK"] == "installations")


def test_no_replayed_installation_undoes_a_later_change(world: World, sender: Sender) -> None:
    """GitHub writes the time of the suspension on `suspend` and on `unsuspend`."""
    life = [
        messages.installation("created", changed="2025-01-15T07:00:00Z"),
        messages.installation("suspend", changed="2025-01-15T08:00:00Z"),
        messages.installation("unsuspend", changed="2025-01-15T08:00:00Z"),
        messages.installation("suspend", changed="2025-01-15T09:00:00Z"),
        messages.installation("deleted", changed="2025-01-15T07:00:00Z"),
    ]
    states = []
    for number, each in enumerate(life):
        sender.report(each)
        before = installation(world)
        for replayed in life[: number + 1]:
            sender.report(replayed)
            assert installation(world) == before
        states.append(before["status"])
    assert states == ["active", "suspended", "active", "suspended", "deleted"]


def test_an_installation_without_a_time_of_change_is_refused(world: World, sender: Sender) -> None:
    event, body = messages.installation("unsuspend")
    wrongs: list[object] = [None, 10**18, -1, 0, "soon", [], {}, True]
    for wrong in wrongs:
        body["installation"]["updated_at"] = wrong
        assert sender.send(body, event=event) == (
            400,
            "installation.updated_at must be a time such as 2025-01-15T10:00:00Z",
        )
    assert not any(dump(world.dynamodb).values())
