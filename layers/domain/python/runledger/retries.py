"""The queue of what could not be recorded at once: what intake puts there is what the retry takes out."""

import dataclasses
import json
import types
import typing
from decimal import Decimal
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from runledger.model import Receipt
from runledger.reports import DeploymentReport, InstallationReport, Report, Review, RunReport
from runledger.tables.attributes import reaching

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
    return json.dumps({"kind": type(said).__name__, "said": dataclasses.asdict(said)}, default=str)


def from_message(message: str) -> Receipt | Report:
    values = json.loads(message)
    said: Receipt | Report = _revive(KINDS[values["kind"]], values["said"])
    return said


def correlation_id(said: Receipt | Report) -> str:
    """The delivery that it came with, where it is known."""
    return str(getattr(said, "delivery_id", f"{type(said).__name__} of {said.installation_id}"))


def _revive(kind: Any, value: Any) -> Any:
    """JSON knows no dataclasses, enums, Decimals and tuples: the fields' types tell what a value was."""
    if isinstance(kind, types.UnionType):
        return None if value is None else _revive(next(each for each in kind.__args__ if each is not type(None)), value)
    if dataclasses.is_dataclass(kind):
        hints = typing.get_type_hints(kind)
        return kind(**{name: _revive(hints[name], each) for name, each in value.items()})  # type: ignore[operator]
    if isinstance(kind, type) and issubclass(kind, StrEnum | Decimal):
        return kind(value)
    return tuple(value) if typing.get_origin(kind) is tuple else value
