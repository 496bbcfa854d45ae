"""How much lies in the dead-letter queues: each message is something that nobody will try again by itself."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from runledger.platform.availability import reaching

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

COUNT: Literal["ApproximateNumberOfMessages"] = "ApproximateNumberOfMessages"


class DeadLetterQueues:
    """By the names that docs/operating.md gives them."""

    def __init__(self, client: "SQSClient", addresses: Mapping[str, str]) -> None:
        self._client = client
        self._addresses = addresses

    @reaching("dead-letter queues")
    def counts(self) -> dict[str, int]:
        return {name: self._count(address) for name, address in sorted(self._addresses.items())}

    def _count(self, address: str) -> int:
        answer = self._client.get_queue_attributes(QueueUrl=address, AttributeNames=[COUNT])
        return int(answer["Attributes"][COUNT])
