"""A webhook without the network: its calls are played once for true, and then answered with what DynamoDB answered."""

from __future__ import annotations

import itertools
import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from runledger import runtime

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
    client = runtime.client("dynamodb")
    call = client._make_api_call

    def remember_call(name: str, params: dict[str, Any]) -> Any:
        calls.append((name, params))
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
def canned(bed: Bed, client: Any, answers: list[bytes]) -> Iterator[None]:
    """Nobody counts meanwhile, for that takes time too."""
    network, client._endpoint.http_session = client._endpoint.http_session, Network(answers)
    bed.meter.detach(client.meta.events)
    try:
        yield
    finally:
        bed.meter.attach(client.meta.events)
        client._endpoint.http_session = network


def replay(client: Any, calls: list[Call]) -> None:
    for name, params in calls:
        client._make_api_call(name, params)
