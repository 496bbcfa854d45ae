"""The retry queue: one bad message never stops its neighbours."""

from runledger.retries import to_message

from tests.beds import items
from tests.functions.conftest import World
from tests.ledgers import JOBS
from tests.webhooks import QUEUED, receipt


def test_a_poisoned_message_fails_alone(world: World) -> None:
    bodies = {"good": to_message(receipt(QUEUED, job_id=1)), "bad": "{}", "fine": to_message(receipt(QUEUED, job_id=2))}
    records = [{"messageId": name, "body": body, "eventSource": "aws:sqs"} for name, body in bodies.items()]
    answer = world.invoke("webhook_retry", {"Records": records})
    assert answer == {"batchItemFailures": [{"itemIdentifier": "bad"}]}
    assert [job["job_id"] for job in items(world.dynamodb, JOBS) if job["SK"] == "v"] == [1, 2]
