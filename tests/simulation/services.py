"""The other services that the domain calls, in memory: they keep what was sent. Only the methods in use exist."""

from collections.abc import Mapping
from typing import Any

Sent = tuple[Any, ...]


class Queues:
    """SQS: messages by queue, in the order in which they were sent."""

    def __init__(self) -> None:
        self.messages: dict[str, tuple[str, ...]] = {}

    def send_message(self, *, QueueUrl: str, MessageBody: str) -> dict[str, str]:  # noqa: N803
        self.messages[QueueUrl] = (*self.messages.get(QueueUrl, ()), MessageBody)
        return {"MessageId": f"m{len(self.messages[QueueUrl])}"}

    def get_queue_attributes(self, *, QueueUrl: str, AttributeNames: list[str]) -> dict[str, Any]:  # noqa: N803
        return {"Attributes": dict.fromkeys(AttributeNames, str(len(self.messages.get(QueueUrl, ()))))}

    def take(self, url: str) -> tuple[str, ...]:
        """All messages, as their consumer receives and deletes them."""
        return self.messages.pop(url, ())


class Bus:
    """EventBridge: entries in the order in which they were put."""

    def __init__(self) -> None:
        self.entries: Sent = ()

    def put_events(self, *, Entries: list[Mapping[str, Any]]) -> dict[str, Any]:  # noqa: N803
        self.entries += tuple(Entries)
        return {"FailedEntryCount": 0, "Entries": [{"EventId": f"e{len(self.entries)}"} for _ in Entries]}


class Functions:
    """Lambda: invocations are kept and not run."""

    def __init__(self) -> None:
        self.invocations: Sent = ()

    def invoke(self, *, FunctionName: str, InvocationType: str, Payload: bytes) -> dict[str, Any]:  # noqa: N803
        self.invocations += ((FunctionName, InvocationType, Payload),)
        return {"StatusCode": 202}


class Secrets:
    """Secrets Manager."""

    def __init__(self, secrets: Mapping[str, str]) -> None:
        self._secrets = secrets

    def get_secret_value(self, *, SecretId: str) -> dict[str, str]:  # noqa: N803
        return {"SecretString": self._secrets[SecretId]}
