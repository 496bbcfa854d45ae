"""The API's real handler on moto, with a ledger to put jobs into."""

import io
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from runledger.platform import clients
from runledger.recording.ledger import Ledger
from runledger_api import wiring

from local.github import SimulatedGitHub
from local.github.credentials import APP_ID
from tests.api.client import Client, stored
from tests.functions.conftest import World, world
from tests.support.ledgers import ledger_on
from tests.support.webhooks import DEPLOYMENT, INSTALLATION, LIFE, REPO, RUN, receipt

__all__ = ["world"]

ELSEWHERE = INSTALLATION + 1
Live = Callable[..., None]


@pytest.fixture
def ledger(world: World) -> Ledger:
    return ledger_on(world.dynamodb)


@pytest.fixture
def api(world: World, monkeypatch: pytest.MonkeyPatch) -> Client:
    def secret(name: str, value: object) -> str:
        return str(world.secrets.create_secret(Name=name, SecretString=json.dumps(value))["ARN"])

    for name, value in {
        "API_TOKENS": secret("tokens", stored(scoped_to=[ELSEWHERE])),
        "GITHUB_APP": secret("app", {}),
        "GITHUB_API_URL": "http://127.0.0.1:9",
        "RECONCILER_FUNCTION": "reconciler",
        "GITHUB_REQUESTS_FUNCTION": "github_requests",
        "DEAD_LETTER_QUEUES": json.dumps({"WebhookRetries": world.queue_url}),
    }.items():
        monkeypatch.setenv(name, value)
    client = Client(handler=world.start("api").handler)
    invoke_in_process(world)
    return client


def invoke_in_process(world: World) -> None:
    """The function that calls GitHub for the API is the real one; moto would look for Docker to run it."""

    def run(event: dict[str, Any]) -> dict[str, Any]:
        response = json.dumps(world.invoke("github_requests", event))
        return {"Payload": io.BytesIO(response.encode())}

    handle_github_requests(run)


def handle_github_requests(run: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """`run` takes the API's event and returns what Lambda would return; it replaces an earlier one."""

    def invoke(params: dict[str, Any], **_: object) -> tuple[SimpleNamespace, dict[str, Any]]:
        return SimpleNamespace(status_code=200), run(json.loads(params["body"]))

    events = wiring.github_requests_client().meta.events
    events.unregister("before-call.lambda.Invoke", unique_id="github requests")
    events.register("before-call.lambda.Invoke", invoke, unique_id="github requests")


@pytest.fixture
def app(world: World, api: Client, github: SimulatedGitHub, monkeypatch: pytest.MonkeyPatch) -> SimulatedGitHub:
    """GitHub, with the App in the secret of the function that calls it."""
    assert api
    monkeypatch.setenv("GITHUB_API_URL", github.url)
    monkeypatch.setenv("GITHUB_PATIENCE_SECONDS", "0")
    secret = {"app_id": str(APP_ID), "private_key": github.state.credentials.private_key}
    world.secrets.put_secret_value(SecretId=os.environ["GITHUB_APP"], SecretString=json.dumps(secret))
    github.state.put("runs", RUN, repository=REPO, status="completed", conclusion="failure")
    github.state.put("deployments", DEPLOYMENT, repository=REPO, environment="production", statuses=[])
    return github


def calls(github: SimulatedGitHub, of: str) -> int:
    return sum(count for route, count in github.state.calls.items() if of in str(route))


@pytest.fixture
def live(ledger: Ledger) -> Live:
    """`live(job_id)` records a whole job, or its steps up to `until`."""

    def put(job_id: int, *, until: str = LIFE[-1], installation_id: int = INSTALLATION, **changes: Any) -> None:
        for at, step in enumerate(LIFE[: LIFE.index(until) + 1]):
            received = receipt(step, at=at, job_id=job_id, guid=f"{step} of {job_id}", **changes)
            ledger.record(replace(received, installation_id=installation_id))

    return put


@pytest.fixture
def pass_requests(world: World, api: Client) -> Iterator[list[dict[str, Any]]]:
    """Records invocations of the reconciler: moto would need Docker to run it."""
    assert world, api
    requests: list[dict[str, Any]] = []

    def invoke(params: dict[str, Any], **_: object) -> tuple[SimpleNamespace, dict[str, Any]]:
        requests.append(json.loads(params["body"]))
        return SimpleNamespace(status_code=202), {}

    events = clients.client("lambda").meta.events
    events.register("before-call.lambda.Invoke", invoke)
    yield requests
    events.unregister("before-call.lambda.Invoke", invoke)
