"""A webhook without the network: its calls are played once for true, and then answered with what DynamoDB answered."""

from __future__ import annotations

import itertools
import json
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import boto3
from runledger import aws

from bench.answers import response

if TYPE_CHECKING:
    from collections.abc import Iterator

    from botocore.awsrequest import AWSResponse

    from bench.bed import Bed
    from bench.lives import Step

Call = tuple[str, dict[str, Any]]


class Network:
    """Stands where botocore's HTTP session is: it answers what DynamoDB answered to the same webhook before."""

    def __init__(self, answers: list[bytes]) -> None:
        self._answers = itertools.cycle(answers)

    def send(self, _request: object) -> AWSResponse:
        return response(next(self._answers))


def recorded(bed: Bed, step: Step) -> tuple[list[Call], list[bytes]]:
    """The calls of this webhook and what they were answered, by playing it once for true."""
    calls: list[Call] = []
    answers: list[bytes] = []
    client = aws.client("dynamodb")
    call = client._make_api_call

    def remember_call(name: str, params: dict[str, Any]) -> Any:
        calls.append((name, dict(params)))  # before anybody adds to them
        return call(name, params)

    def remember_answer(http_response: AWSResponse, **_: Any) -> None:
        said = json.loads(http_response.content)
        said.pop("ConsumedCapacity", None)
        answers.append(json.dumps(said).encode())

    client.meta.events.register("after-call", remember_answer)
    with patch.object(client, "_make_api_call", remember_call):
        bed.measure(step)
    client.meta.events.unregister("after-call", remember_answer)
    return calls, answers


@contextmanager
def canned(bed: Bed, answers: list[bytes]) -> Iterator[None]:
    """Nobody counts meanwhile, for that takes time too."""
    client = aws.client("dynamodb")
    network, client._endpoint.http_session = client._endpoint.http_session, Network(answers)
    bed.meter.detach(client.meta.events)
    try:
        yield
    finally:
        bed.meter.attach(client.meta.events)
        client._endpoint.http_session = network


class Bare:
    """The same calls as a plain boto3 makes them, with nothing of ours around or below."""

    def __init__(self, calls: list[Call], answers: list[bytes]) -> None:
        self._calls = calls
        make: Any = boto3.Session().client
        self._client = make("dynamodb")
        self._client._endpoint.http_session = Network(answers)

    def __call__(self) -> None:
        for name, params in self._calls:
            self._client._make_api_call(name, params)


class Stopwatch:
    """How much of the time is spent in calls to AWS, while our own code runs around them."""

    def __init__(self) -> None:
        self.seconds = 0.0

    @contextmanager
    def held(self) -> Iterator[None]:
        client = aws.client("dynamodb")
        call = client._make_api_call

        def timed(name: str, params: dict[str, Any]) -> Any:
            started = time.process_time()
            try:
                return call(name, params)
            finally:
                self.seconds += time.process_time() - started

        with patch.object(client, "_make_api_call", timed):
            yield
