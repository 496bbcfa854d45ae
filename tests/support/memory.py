"""DynamoDB calls of botocore's clients, executed by the simulation's engine: moto takes ten times as long.

`tests/simulation/test_engine.py` compares the engine with moto and DynamoDB Local.
"""

import json
from base64 import b64decode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Lock
from types import SimpleNamespace
from typing import Any

import pytest
from botocore import handlers, xform_name
from botocore.exceptions import ClientError
from runledger.tables import schema

from tests.simulation.engine import Engine

# For tests that play many orders: the comparison above covers each of their calls on DynamoDB Local.
in_memory = pytest.mark.parametrize("dynamodb", ["memory"], indirect=True)

Response = tuple[SimpleNamespace, dict[str, Any]]
OK, BAD_REQUEST = 200, 400


class InMemory:
    """A handler of botocore's `before-call`, which returns a response instead of sending the HTTP request."""

    def __init__(self) -> None:
        self.engine: Engine | None = None
        self._lock = Lock()

    def __call__(self, model: Any, params: Mapping[str, Any], **_: object) -> Response | None:
        if self.engine is None:
            return None
        request = json.loads(params["body"], object_hook=_with_bytes)
        counted = request.pop("ReturnConsumedCapacity", None)
        try:
            with self._lock:  # the functions read with several threads
                response = dict(getattr(self.engine, xform_name(model.name))(**request))
        except ClientError as error:
            return SimpleNamespace(status_code=BAD_REQUEST), dict(error.response)
        if counted:
            response["ConsumedCapacity"] = _consumed(request)
        return SimpleNamespace(status_code=OK), response | {"ResponseMetadata": {"HTTPStatusCode": OK}}


def _with_bytes(value: dict[str, Any]) -> dict[str, Any]:
    """JSON holds binary values in Base64."""
    match value:
        case {"B": str(encoded)}:
            return {"B": b64decode(encoded)}
        case {"BS": list(encoded)}:
            return {"BS": [b64decode(each) for each in encoded]}
    return value


def _consumed(request: Mapping[str, Any]) -> Any:
    """One unit a table, whatever was read: tests that count units run on DynamoDB Local."""
    if "RequestItems" in request:
        return [{"TableName": name, "CapacityUnits": 1.0} for name in request["RequestItems"]]
    return {"TableName": request["TableName"], "CapacityUnits": 1.0}


_in_memory = InMemory()
# After the handlers that tests register. New botocore sessions inherit it.
handlers.BUILTIN_HANDLERS.append(("before-call.dynamodb", _in_memory, handlers.REGISTER_LAST))


@contextmanager
def tables_in_memory() -> Iterator[None]:
    """Empty tables for every client of DynamoDB in this process."""
    _in_memory.engine = Engine((*schema.TABLES, *schema.OPTIONAL))
    try:
        yield
    finally:
        _in_memory.engine = None


def engine() -> Engine:
    """The one of `tables_in_memory`."""
    assert _in_memory.engine is not None
    return _in_memory.engine
