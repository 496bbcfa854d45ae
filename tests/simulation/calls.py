"""Calls to AWS: the points at which a play may be disturbed, and the story of what happened at each."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from types import SimpleNamespace
from typing import Any, Protocol

from botocore.exceptions import ClientError, ConnectTimeoutError, ReadTimeoutError

from tests.simulation.engine import Paginator

ENDPOINT = "https://aws.invalid"


class Killed(BaseException):
    """The process is gone. It is no Exception, so that the domain's handlers don't catch it."""


class Fault(Enum):
    """What may go wrong with one call."""

    THROTTLED = "throttled, no effect"
    REFUSED = "refused, no effect"
    UNREACHABLE = "connection timed out, no effect"
    RESPONSE_LOST = "took effect, but its response was lost"
    SENT_TWICE = "took effect, its response was lost, and the SDK sent it again"
    KILLED_BEFORE = "process killed before it"
    KILLED_AFTER = "process killed after it"


CRASHES = (Fault.KILLED_BEFORE, Fault.KILLED_AFTER)
ERRORS = (Fault.THROTTLED, Fault.UNREACHABLE, Fault.RESPONSE_LOST, Fault.SENT_TWICE)


@dataclass(slots=True)
class Step:
    """One call and its result, a line of the story."""

    task: str
    number: int
    service: str
    operation: str
    arguments: Mapping[str, Any]
    fault: Fault | None = None
    result: str = "ok"

    def __str__(self) -> str:
        line = f"{self.task} call {self.number}: {self.operation} {subject(self.arguments)}".rstrip()
        return f"{line} -> {self.result}" + (f" [{self.fault.value}]" if self.fault else "")


def subject(arguments: Mapping[str, Any]) -> str:
    """The item, partition or queue that a request is about."""
    key = arguments.get("Key") or arguments.get("Item") or {}
    about = [arguments.get("TableName", ""), arguments.get("IndexName", "")]
    about += [key[name]["S"] for name in ("PK", "SK") if name in key]
    about += [
        str(arguments[name]) for name in ("QueueUrl", "RequestItems", "FunctionName", "SecretId") if name in arguments
    ]
    return " ".join(filter(None, about))


class Gate(Protocol):
    """Called instead of the service, with the effect that the call would have."""

    def __call__(
        self, service: str, operation: str, arguments: Mapping[str, Any], effect: Callable[[], Any]
    ) -> Any: ...


class Client:
    """A service's client whose every call passes a gate."""

    meta = SimpleNamespace(
        region_name="us-east-1",
        # The API's meter of read units registers handlers, which are never called.
        events=SimpleNamespace(register=lambda *_, **__: None, unregister=lambda *_, **__: None),
    )

    def __init__(self, service: str, target: Any, gate: Gate) -> None:
        self._service = service
        self._target = target
        self._gate = gate

    def __getattr__(self, operation: str) -> Callable[..., Any]:
        method = getattr(self._target, operation)

        def call(**arguments: Any) -> Any:
            return self._gate(self._service, operation, arguments, lambda: method(**arguments))

        return call

    def get_paginator(self, operation: str) -> Paginator:
        return Paginator(getattr(self, operation))


def disturbed(step: Step, fault: Fault | None, effect: Callable[[], Any]) -> Any:
    """Make the call, with what goes wrong about it."""
    step.fault = fault
    match fault:
        case None:
            return _made(step, effect)
        case Fault.THROTTLED:
            step.result = "error"
            raise _throttled(step.operation)
        case Fault.REFUSED:
            step.result = "error"
            raise _refused(step.operation)
        case Fault.UNREACHABLE:
            step.result = "error"
            raise ConnectTimeoutError(endpoint_url=ENDPOINT)
        case Fault.KILLED_BEFORE:
            step.result = "killed"
            raise Killed
        case Fault.SENT_TWICE:
            _attempt(effect)
            return _made(step, effect)
        case Fault.RESPONSE_LOST:
            _attempt(effect)
            step.result = "error"
            raise ReadTimeoutError(endpoint_url=ENDPOINT)
        case Fault.KILLED_AFTER:
            _attempt(effect)
            step.result = "killed"
            raise Killed


def _made(step: Step, effect: Callable[[], Any]) -> Any:
    try:
        return effect()
    except ClientError as error:
        step.result = error.response["Error"]["Code"]
        raise


def _attempt(effect: Callable[[], Any]) -> None:
    """The caller never receives the response, not even a refusal."""
    try:
        effect()
    except ClientError:
        return


def _refused(operation: str) -> ClientError:
    """The error for a role whose policy is being changed."""
    error: Any = {
        "Error": {"Code": "AccessDeniedException", "Message": "User is not authorized to perform this operation"},
        "ResponseMetadata": {"HTTPStatusCode": 400},
    }
    return ClientError(error, operation)


def _throttled(operation: str) -> ClientError:
    error: Any = {
        "Error": {"Code": "ThrottlingException", "Message": "Rate exceeded"},
        "ResponseMetadata": {"HTTPStatusCode": 400},
    }
    return ClientError(error, operation)
