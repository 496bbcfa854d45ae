"""Dead letters of streams. They name the item that changed, and don't contain it."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from runledger.model.dataclass import dataclass
from runledger.platform.availability import translate_errors

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscardedRecords:
    sqs: "SQSClient"
    url: str

    @translate_errors("the dead letters of a stream")
    def send(self, record: Mapping[str, Any]) -> None:
        change = record["dynamodb"]
        about = {
            "eventID": record.get("eventID"),
            "eventSourceARN": record["eventSourceARN"],
            "SequenceNumber": change["SequenceNumber"],
            "Keys": change.get("Keys"),
        }
        self.sqs.send_message(QueueUrl=self.url, MessageBody=json.dumps(about, separators=(",", ":")))
