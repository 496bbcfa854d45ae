"""Runs the real functions in this process, on Amazon DynamoDB Local, and counts every AWS call."""

from __future__ import annotations

import importlib
import io
import os
import sys
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import boto3
from runledger.platform import clients, logs

from bench import canned_responses
from bench.meter import Meter, Usage
from tests.support.beds import create_tables
from tests.support.settings import SETTINGS, forget_wiring
from tests.support.synthesis import synthesise

if TYPE_CHECKING:
    from collections.abc import Iterator

    from botocore.awsrequest import AWSResponse
    from mypy_boto3_dynamodb import DynamoDBClient

    from tests.support.synthesis import Template


FUNCTIONS = sorted(file.stem for file in (Path(__file__).parent.parent / "functions").glob("*.py"))


@dataclass(slots=True, kw_only=True)
class Harness:
    dynamodb: DynamoDBClient
    meter: Meter
    throttling: bool = False

    def measure(self, *steps: tuple[str, dict[str, Any]]) -> Usage:
        """The usage of these invocations, in order, in warm functions."""
        usage = self.meter.reset()
        for function, event in steps:
            with captured_log() as log, patch.object(logs, "FUNCTION", function):
                invoke(function, event)
            usage.log_bytes += len(log.getvalue().encode())
        return usage

    def clear_caches(self) -> None:
        """Clears everything that a function caches between calls."""
        if clients.client.cache_info().currsize:
            clients.client("dynamodb").close()
        clients.client.cache_clear()
        forget_wiring()
        for function in FUNCTIONS:
            sys.modules.pop(function, None)


@contextmanager
def captured_log() -> Iterator[io.StringIO]:
    """Captures log output."""
    with redirect_stdout(io.StringIO()) as log, patch.object(logs.logger.registered_handler, "stream", log):
        yield log


def invoke(function: str, event: dict[str, Any]) -> Any:
    module = sys.modules.get(function) or importlib.import_module(function)
    result = module.handler(event, SimpleNamespace(aws_request_id="a-request"))
    if result.get("batchItemFailures") or result.get("statusCode", 200) >= 500:  # noqa: PLR2004
        raise RuntimeError(f"{function} failed: {result}")
    return result


@contextmanager
def create(url: str, name: str, template: Template | None = None) -> Iterator[Harness]:
    """Creates separate tables: DynamoDB Local separates them by access key, which is `name`."""
    with patch.dict(os.environ, SETTINGS | {"AWS_ACCESS_KEY_ID": name, "AWS_ENDPOINT_URL_DYNAMODB": url}):
        unmetered = boto3.Session().client("dynamodb")
        create_tables(unmetered, template or synthesise()["data"])
        clients.session.cache_clear()
        harness = Harness(dynamodb=unmetered, meter=Meter(unmetered))
        harness.meter.attach(clients.session())

        def respond(event_name: str, request: Any, **_: Any) -> AWSResponse | None:
            operation = event_name.removeprefix("before-send.")
            if operation.startswith("dynamodb."):
                return canned_responses.throttled() if harness.throttling else None
            return canned_responses.respond_to(operation, request.body)

        clients.session().register("before-send", respond)  # type: ignore[arg-type]
        harness.clear_caches()
        try:
            yield harness
        finally:
            harness.clear_caches()
            unmetered.close()
            clients.session.cache_clear()
