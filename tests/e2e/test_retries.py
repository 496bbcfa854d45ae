"""What intake could not record is recorded from the queue, by the deployed function."""

import time
from typing import TYPE_CHECKING

import boto3
from runledger.webhooks.retry_queue import to_message

from local.aws.outputs import Outputs
from tests.e2e.tables import history, job
from tests.e2e.test_webhooks import UNKNOWN_PLACE
from tests.support.webhooks import COMPLETED, INSTALLATION, receipt

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

PATIENCE_SECONDS = 60


def test_a_deferred_receipt_reaches_the_tables(outputs: Outputs, dynamodb: "DynamoDBClient") -> None:
    job_id = 2_000_001
    sqs = boto3.client("sqs", endpoint_url=outputs.endpoint_url, region_name=outputs.region)
    (queue,) = [url for url in sqs.list_queues()["QueueUrls"] if "WebhookRetriesQueue" in url]
    sqs.send_message(
        QueueUrl=queue, MessageBody=to_message(receipt(COMPLETED, job_id=job_id, runner_name=UNKNOWN_PLACE))
    )
    sqs.close()
    key = f"{INSTALLATION}#{job_id}"
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (found := job(dynamodb, outputs, key)) is None and time.monotonic() < deadline:
        time.sleep(0.2)
    assert found is not None
    assert found["status"] == "completed"
    assert [line["event_type"] for line in history(dynamodb, outputs, key)] == ["webhook_completed"]
