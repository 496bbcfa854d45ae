"""The queue of receipts that could not be recorded at once: what intake puts there is what the retry takes out."""

import dataclasses
import json
from typing import TYPE_CHECKING

from runledger.model import EventType, Facts, Receipt, Source, Status
from runledger.tables.attributes import reaching

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient


class RetryQueue:
    """Carries the receipt and not the body: a payload may be larger than a message, what we keep of it never is."""

    def __init__(self, client: "SQSClient", url: str) -> None:
        self._client = client
        self._url = url

    @reaching("retry queue")
    def put(self, receipt: Receipt) -> None:
        self._client.send_message(QueueUrl=self._url, MessageBody=to_message(receipt))


def to_message(receipt: Receipt) -> str:
    return json.dumps(_known(dataclasses.asdict(receipt)))


def from_message(message: str) -> Receipt:
    values = json.loads(message)
    facts = values.pop("facts")
    if "labels" in facts:
        facts["labels"] = tuple(facts["labels"])
    if "status" in values:
        values["status"] = Status(values["status"])
    return Receipt(
        **values
        | {
            "event_type": EventType(values["event_type"]),
            "source": Source(values["source"]),
            "facts": Facts(**facts),
        }
    )


def _known(values: dict[str, object]) -> dict[str, object]:
    return {
        name: _known(value) if name == "facts" and isinstance(value, dict) else value
        for name, value in values.items()
        if value is not None
    }
