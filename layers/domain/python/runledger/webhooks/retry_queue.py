"""The queue of what could not be recorded at once: what intake puts there is what the retry takes out."""

import dataclasses
import json
from typing import TYPE_CHECKING

from runledger.model import message_format
from runledger.model.job import Receipt
from runledger.model.reports import DeploymentReport, InstallationReport, Report, Review, RunReport
from runledger.platform.availability import reaching

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

KINDS: dict[str, type[Receipt | Report]] = {
    kind.__name__: kind for kind in (Receipt, RunReport, DeploymentReport, Review, InstallationReport)
}


class RetryQueue:
    """Carries what was said and not the body: a payload may be larger than a message, what we keep of it never is."""

    def __init__(self, client: "SQSClient", url: str) -> None:
        self._client = client
        self._url = url

    @reaching("retry queue")
    def put(self, said: Receipt | Report) -> None:
        self._client.send_message(QueueUrl=self._url, MessageBody=to_message(said))


def to_message(said: Receipt | Report) -> str:
    content = {"kind": type(said).__name__, "said": dataclasses.asdict(said)}
    return json.dumps(message_format.stamp(content), default=str)


def from_message(message: str) -> Receipt | Report:
    values = json.loads(message)
    message_format.check(values)
    said: Receipt | Report = message_format.read(KINDS[values["kind"]], values["said"])
    return said


def correlation_id(said: Receipt | Report) -> str:
    """The delivery that it came with, where it is known."""
    return str(getattr(said, "delivery_id", f"{type(said).__name__} of {said.installation_id}"))
