"""Gates: which reviews reach which jobs, in every order."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import permutations
from typing import Any

import pytest
from runledger.model.reports import Review
from runledger.recording.approvals import JOBS_IN_A_PART
from runledger.tables.attributes import from_attributes
from runledger.webhooks.readers import dispatcher
from runledger.webhooks.retry_queue import from_message, to_message

from tests.simulation.choices import seeded
from tests.simulation.explore import Flow, in_order, play
from tests.simulation.scenarios.gates_and_runs import receiving
from tests.simulation.world import Process, World
from tests.support import messages
from tests.support.ledgers import DEPLOYMENTS, EVENTS
from tests.support.messages import Message
from tests.support.webhooks import DEPLOYMENT, INSTALLATION, JOB, QUEUED, WAITING, delivery, payload

Story = Mapping[str, Message]


def orders(story: Story) -> Iterator[tuple[tuple[str, ...], World]]:
    """Every order, with the world after it. Each step is received a minute after the one before it in the story."""
    flows = {step: receiving(story[step], guid=step, at=60 * place) for place, step in enumerate(story)}
    for order in permutations(story):
        world = World()
        play(world, {"A": in_order(*(flows[step] for step in order))})
        yield order, world


def job_waits(job_id: int, deployment_id: int, *, created: str = "2025-01-15T10:00:00Z", name: str = "test") -> Message:
    body = payload(WAITING, job_id=job_id, created_at=created, started_at=created, name=name)
    return "workflow_job", body | {"deployment": {"id": deployment_id, "environment": messages.ENVIRONMENT}}


def items(world: World, table: str) -> list[dict[str, Any]]:
    return [from_attributes(item) for item in world.engine.snapshot().items[table].values()]


def deployments(world: World) -> dict[int, dict[str, Any]]:
    return {item["deployment_id"]: item for item in items(world, DEPLOYMENTS) if item["SK"] == "v"}


def statuses(world: World) -> dict[int, str]:
    return {number: found["status"] for number, found in deployments(world).items()}


def lines_of(world: World, job_id: int) -> list[str]:
    found = [line for line in items(world, EVENTS) if line["PK"] == f"{INSTALLATION}#{job_id}"]
    return sorted(line["event_type"] for line in found if line["event_type"].startswith("deployment"))


def test_a_job_that_reaches_the_environment_after_an_approval_waits_for_its_own() -> None:
    story = {
        "first waits": job_waits(1, 101, name="first"),
        "first requested": messages.review("requested", since="2025-01-15T10:00:03Z", job_name="first"),
        "approved": messages.review("approved", since="2025-01-15T10:01:00Z"),
        "second waits": job_waits(2, 102, created="2025-01-15T10:05:00Z", name="second"),
        "second requested": messages.review("requested", since="2025-01-15T10:05:03Z", job_name="second"),
    }
    for order, world in orders(story):
        assert statuses(world) == {101: "approved", 102: "pending"}, order
        assert lines_of(world, 1) == ["deployment_approved", "deployment_requested"], order
        assert lines_of(world, 2) == ["deployment_requested"], order


@pytest.mark.parametrize("decision", ["approved", "rejected"])
def test_a_decision_on_a_matrix_reaches_every_job_in_every_order(decision: str) -> None:
    story = {str(job): job_waits(job, 100 + job, name=f"test ({job})") for job in (1, 2, 3)}
    story["decision"] = messages.review(decision)
    for order, world in orders(story):
        assert statuses(world) == dict.fromkeys((101, 102, 103), decision), order
        assert [lines_of(world, job) for job in (1, 2, 3)] == [[f"deployment_{decision}"]] * 3


def test_the_first_decision_after_a_job_was_created_is_the_one_on_it() -> None:
    story = {
        "first waits": job_waits(1, 101),
        "approved": messages.review("approved", since="2025-01-15T10:01:00Z"),
        "second waits": job_waits(2, 102, created="2025-01-15T10:05:00Z"),
        "rejected": messages.review("rejected", since="2025-01-15T10:06:00Z"),
        "first in progress": messages.deployment_status("in_progress", deployment_id=101),
    }
    for order, world in orders(story):
        assert statuses(world) == {101: "approved", 102: "rejected"}, order
        first = deployments(world)[101]
        assert (first["approved_at"], first.get("rejected_at")) == ("2025-01-15T10:01:00.000Z", None)


def test_the_creation_of_the_job_stands_in_for_that_of_its_deployment() -> None:
    story = {"approved": messages.review("approved"), "job": job_waits(JOB, DEPLOYMENT)}
    for _, world in orders(story):
        assert deployments(world)[DEPLOYMENT]["created_at"] == "2025-01-15T10:00:00.000Z"
    for _, world in orders(story | {"deployment": messages.deployment()}):
        assert deployments(world)[DEPLOYMENT]["created_at"] == "2025-01-15T10:00:05.000Z"


def waiting_world(jobs: range) -> World:
    world = World()
    flows = [receiving(job_waits(job, 1000 + job, name=f"test ({job})"), guid=f"job {job}", at=0) for job in jobs]
    play(world, {"A": in_order(*seeded(1).sample(flows, len(flows)))})
    return world


def approve(world: World) -> list[Review]:
    """The parts that intake defers."""
    deferred: list[Review] = []
    event, body = messages.review("approved")
    (review,) = dispatcher.read(delivery(body, guid="review", at=60, event=event))
    assert isinstance(review, Review)
    outcome = play(world, {"A": lambda process: replace(process.ledger, defer=deferred.append).dispatch(review)})
    assert outcome.calls <= 1 + 4 * JOBS_IN_A_PART
    return deferred


def retry(message: str, process: Process) -> None:
    process.ledger.dispatch(from_message(message))


def test_one_approval_of_256_jobs_is_applied_in_deferred_parts() -> None:
    world = waiting_world(range(1, 257))
    deferred = approve(world)
    assert len(deferred) == 26
    for part in seeded(2).sample(deferred, len(deferred)):
        outcome = play(world, {"A": partial(retry, to_message(part))})
        assert outcome.calls <= 4 * JOBS_IN_A_PART
    assert statuses(world) == {1000 + job: "approved" for job in range(1, 257)}
    assert all(lines_of(world, job) == ["deployment_approved"] for job in range(1, 257))
    before = world.engine.snapshot().items[EVENTS]
    play(world, {"A": lambda process: [process.ledger.dispatch(part) for part in deferred]})
    assert world.engine.snapshot().items[EVENTS] == before


def test_a_review_of_few_jobs_is_applied_without_a_queue_message() -> None:
    world = waiting_world(range(1, 1 + JOBS_IN_A_PART))
    assert approve(world) == []
    assert set(statuses(world).values()) == {"approved"}


def dispatched(message: Message, *, guid: str) -> Flow:
    """Fails when a write of the job is refused, because the ledger pauses then."""
    event, body = message
    (entry,) = dispatcher.read(delivery(body, guid=guid, at=0, event=event))
    return lambda process: replace(process.ledger, pause=never_pause).dispatch(entry)


def never_pause(_tries: int) -> None:
    raise AssertionError("a write of the job was refused")


def test_a_job_that_joins_a_reviewed_gate_is_saved_at_the_first_try() -> None:
    world = World()
    play(world, {"A": dispatched(("workflow_job", payload(QUEUED, job_id=1)), guid="queued")})
    play(world, {"A": dispatched(messages.review("approved"), guid="review")})
    outcome = play(world, {"A": dispatched(job_waits(1, 101), guid="waits")})
    # Read the job and put the event; join the gate and update the deployment twice; record the review (read, event,
    # job); then put the event again, with what the review has changed, and save the job.
    assert outcome.calls == 2 + 3 + 3 + 2
    assert lines_of(world, 1) == ["deployment_approved"]
    assert statuses(world) == {101: "approved"}


@pytest.mark.parametrize("status", [QUEUED, WAITING])
def test_a_job_that_is_new_at_a_reviewed_gate_is_saved_at_the_first_try(status: str) -> None:
    world = World()
    play(world, {"A": dispatched(messages.review("approved"), guid="review")})
    _, body = job_waits(1, 101)
    outcome = play(world, {"A": dispatched(("workflow_job", body | payload(status, job_id=1)), guid="job")})
    assert not re.search(r"workflow_jobs 23154469#1 v -> Conditional", outcome.story())
    assert lines_of(world, 1) == ["deployment_approved"]
    assert statuses(world) == {101: "approved"}
