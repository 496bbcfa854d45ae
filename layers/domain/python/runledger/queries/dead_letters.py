"""The number of messages in the dead-letter queues, which are not retried automatically."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from runledger.platform.availability import translate_errors

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

COUNT: Literal["ApproximateNumberOfMessages"] = "ApproximateNumberOfMessages"


class DeadLetterQueues:
    """docs/runbook.md lists the names of the queues."""

    def __init__(self, client: "SQSClient", urls: Mapping[str, str]) -> None:
        self._client = client
        self._urls = urls

    @translate_errors("dead-letter queues")
    def counts(self) -> dict[str, int]:
        return {name: self._count(url) for name, url in sorted(self._urls.items())}

    def _count(self, url: str) -> int:
        response = self._client.get_queue_attributes(QueueUrl=url, AttributeNames=[COUNT])
        return int(response["Attributes"][COUNT])
