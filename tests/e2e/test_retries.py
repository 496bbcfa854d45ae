"""What intake could not record is recorded from the queue, by the deployed function."""

from typing import TYPE_CHECKING

import boto3
from runledger.webhooks.retry_queue import to_message

from local.aws.outputs import Outputs
from tests.e2e.tables import history, job
from tests.e2e.test_webhooks import NO_INSTANCE
from tests.support.polling import eventually
from tests.support.webhooks import COMPLETED, INSTALLATION, receipt

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


def test_a_deferred_receipt_reaches_the_tables(outputs: Outputs, dynamodb: "DynamoDBClient") -> None:
    job_id = 2_000_001
    sqs = boto3.client("sqs", endpoint_url=outputs.endpoint_url, region_name=outputs.region)
    (queue,) = [url for url in sqs.list_queues()["QueueUrls"] if "WebhookRetriesQueue" in url]
    sqs.send_message(QueueUrl=queue, MessageBody=to_message(receipt(COMPLETED, job_id=job_id, runner_name=NO_INSTANCE)))
    sqs.close()
    key = f"{INSTALLATION}#{job_id}"
    found = eventually(lambda: job(dynamodb, outputs, key), "the job is recorded")
    assert found["status"] == "completed"
    assert [line["event_type"] for line in history(dynamodb, outputs, key)] == ["webhook_completed"]
