"""Interrupted jobs are re-run, unless the run was cancelled; a 403 leaves the message in the queue."""

import json
from typing import Any

import pytest
from runledger.tables.attributes import to_attributes

from tests.support import messages
from tests.support.beds import items
from tests.support.ledgers import RUNS
from tests.support.messages import Message
from tests.support.reconciler_scene import Scene
from tests.support.runner_events import batch, interruption, launcher
from tests.support.webhooks import COMPLETED, JOB, QUEUED, REPO, RUN, http_event, payload

GOOD: dict[str, list[Any]] = {"batchItemFailures": []}


def deliver(scene: Scene, message: Message, *, guid: str) -> None:
    event, body = message
    sent = http_event(json.dumps(body).encode(), guid=guid, event=event)
    assert scene.world.invoke("webhook_intake", sent)["statusCode"] == 202


def interrupted(scene: Scene, *, run: str, job: str) -> list[dict[str, str]]:
    """A spot machine is taken away, then run and job end with these conclusions. Returns the messages of the queue."""
    deliver(scene, ("workflow_job", payload(QUEUED)), guid="queued")
    scene.world.invoke("scheduling_events", batch(launcher("runner_scheduled")))
    scene.world.invoke("spot_interruption", batch(interruption()))
    deliver(scene, ("workflow_job", payload(COMPLETED, conclusion=job)), guid="completed")
    deliver(scene, messages.run("completed"), guid="the run's end")
    scene.github.state.put("runs", RUN, repository=REPO, status="completed", conclusion=run)
    scene.on_github(JOB, "completed", conclusion=job)
    return scene.world.waiting("reruns")


def consider(scene: Scene, records: list[dict[str, str]]) -> Any:
    return scene.world.invoke("run_retry", {"Records": records})


def is_rerun(scene: Scene) -> bool:
    return scene.github.state.runs[RUN].run_attempt > 1


@pytest.mark.parametrize(("run", "expected"), [("failure", True), ("cancelled", False)])
@pytest.mark.parametrize("job", ["failure", "cancelled"])
def test_a_job_that_was_interrupted_is_rerun_unless_its_run_was_cancelled(
    scene: Scene, job: str, run: str, expected: bool
) -> None:
    """GitHub reports neither who cancelled a run nor why."""
    records = interrupted(scene, run=run, job=job)
    assert records
    assert consider(scene, records) == GOOD
    assert is_rerun(scene) is expected


def test_a_403_leaves_the_message_in_the_queue_for_another_try(scene: Scene) -> None:
    record, *_ = interrupted(scene, run="failure", job="failure")
    scene.github.state.add_fault(kind="error", status=403, path="*/rerun-failed-jobs", times=1)
    assert consider(scene, [record]) == {"batchItemFailures": [{"itemIdentifier": record["messageId"]}]}
    assert not is_rerun(scene)
    expire_claim(scene)
    assert consider(scene, [record]) == GOOD
    assert is_rerun(scene)


def expire_claim(scene: Scene) -> None:
    """The queue tries again after six minutes, and a claim lasts one."""
    (run,) = items(scene.world.dynamodb, RUNS)
    past = run | {"rerun_claimed_until": "2025-01-15T10:00:00.000Z"}
    scene.world.dynamodb.put_item(TableName=RUNS, Item=to_attributes(past))
