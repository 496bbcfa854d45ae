"""A webhook without the network: its calls are recorded once, then replayed."""

from __future__ import annotations

import itertools
import json
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import boto3
from runledger.platform import clients

from bench.canned_responses import response

if TYPE_CHECKING:
    from collections.abc import Iterator

    from botocore.awsrequest import AWSResponse

    from bench.harness import Harness
    from bench.lives import Step

Call = tuple[str, dict[str, Any]]


class Network:
    """Replaces botocore's HTTP session and returns the recorded responses."""

    def __init__(self, responses: list[bytes]) -> None:
        self._responses = itertools.cycle(responses)

    def send(self, _request: object) -> AWSResponse:
        return response(next(self._responses))


def recorded(harness: Harness, step: Step) -> tuple[list[Call], list[bytes]]:
    """Records the calls of a webhook and their responses."""
    calls: list[Call] = []
    responses: list[bytes] = []
    client = clients.client("dynamodb")
    call = client._make_api_call

    def record_call(name: str, params: dict[str, Any]) -> Any:
        calls.append((name, dict(params)))  # before handlers modify them
        return call(name, params)

    def record_response(http_response: AWSResponse, **_: Any) -> None:
        content = json.loads(http_response.content)
        content.pop("ConsumedCapacity", None)
        responses.append(json.dumps(content).encode())

    client.meta.events.register("after-call", record_response)
    with patch.object(client, "_make_api_call", record_call):
        harness.measure(step)
    client.meta.events.unregister("after-call", record_response)
    return calls, responses


@contextmanager
def canned(harness: Harness, responses: list[bytes]) -> Iterator[None]:
    """Disables the meter, which takes time too."""
    client = clients.client("dynamodb")
    network, client._endpoint.http_session = client._endpoint.http_session, Network(responses)
    harness.meter.detach(client.meta.events)
    try:
        yield
    finally:
        harness.meter.attach(client.meta.events)
        client._endpoint.http_session = network


class Bare:
    """The same calls with plain boto3."""

    def __init__(self, calls: list[Call], responses: list[bytes]) -> None:
        self._calls = calls
        make: Any = boto3.Session().client
        self._client = make("dynamodb")
        self._client._endpoint.http_session = Network(responses)

    def __call__(self) -> None:
        for name, params in self._calls:
            self._client._make_api_call(name, params)


class Stopwatch:
    """Measures the share of the time in AWS calls."""

    def __init__(self) -> None:
        self.seconds = 0.0

    @contextmanager
    def running(self) -> Iterator[None]:
        client = clients.client("dynamodb")
        call = client._make_api_call

        def timed(name: str, params: dict[str, Any]) -> Any:
            started = time.process_time()
            try:
                return call(name, params)
            finally:
                self.seconds += time.process_time() - started

        with patch.object(client, "_make_api_call", timed):
            yield
