"""The retry queue: one bad message never stops its neighbours."""

from typing import Any

import pytest
from runledger.model.errors import NewerMessage
from runledger.queries.github_requests import RequestOutcome
from runledger.webhooks.retry_queue import to_message

from tests.functions.conftest import World
from tests.support.beds import dump, items
from tests.support.ledgers import JOBS
from tests.support.reconciler_scene import Scene
from tests.support.webhooks import QUEUED, receipt


def test_a_poisoned_message_fails_alone(world: World) -> None:
    bodies = {"good": to_message(receipt(QUEUED, job_id=1)), "bad": "{}", "fine": to_message(receipt(QUEUED, job_id=2))}
    records = [{"messageId": name, "body": body, "eventSource": "aws:sqs"} for name, body in bodies.items()]
    response = world.invoke("webhook_retry", {"Records": records})
    assert response == {"batchItemFailures": [{"itemIdentifier": "bad"}]}
    assert [job["job_id"] for job in items(world.dynamodb, JOBS) if job["SK"] == "v"] == [1, 2]


@pytest.mark.parametrize("function", ["webhook_retry", "runner_lookup", "run_retry"])
def test_a_message_of_a_newer_version_stays_in_the_queue_and_is_logged(
    scene: Scene, function: str, caplog: pytest.LogCaptureFixture
) -> None:
    record = {"messageId": "newer", "body": '{"version": 2, "kind": "Receipt"}', "eventSource": "aws:sqs"}
    response = scene.world.invoke(function, {"Records": [record]})
    assert response == {"batchItemFailures": [{"itemIdentifier": "newer"}]}
    (line,) = newer(caplog)
    assert (line["levelname"], line["version"], line["supported"], line["message_id"]) == ("ERROR", 2, 1, "newer")


def test_an_order_of_a_newer_version_runs_no_pass(scene: Scene, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(NewerMessage):
        scene.world.invoke("reconciler", {"version": 2, "sweep": "everything", "id": "an-order"})
    assert [line["id"] for line in newer(caplog)] == ["an-order"]
    assert not any(dump(scene.world.dynamodb).values())


def test_a_github_request_of_a_newer_version_is_unavailable(scene: Scene) -> None:
    result = scene.world.invoke("github_requests", {"version": 2, "request": "cancel_run"})
    assert (result["outcome"], result["message"]) == (
        RequestOutcome.UNAVAILABLE,
        "the message has version 2; this function reads up to version 1",
    )


def newer(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    return [vars(each) for each in caplog.records if each.getMessage() == "message has a newer version"]
