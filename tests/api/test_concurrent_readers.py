"""Readers of the same run, at the same time."""

import io
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.config import Config
from runledger.model.keys import NEWEST_ATTEMPT, RunKey
from runledger.platform.clock import SystemClock
from runledger.queries import github_requests
from runledger.queries.caches import run_cache
from runledger.queries.github_requests import RequestOutcome
from runledger.tables.lookup_counts import LookupCounts
from runledger_api.github import GitHub
from runledger_github.api_requests import Requests
from runledger_github.app import GitHubApp
from runledger_github.lookups import MAX_PER_MINUTE, Lookups
from runledger_github.state import GitHubState

from local.github import SimulatedGitHub
from local.github.credentials import APP_ID
from tests.api.conftest import calls
from tests.support.beds import create_tables, delete_tables
from tests.support.ledgers import RUNS, ledger_on
from tests.support.synthesis import Templates
from tests.support.webhooks import IN_PROGRESS, INSTALLATION, REPO, RUN, receipt

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


@pytest.mark.server
@pytest.mark.parametrize("attempt", [1, NEWEST_ATTEMPT], ids=["known run", "unknown run"])
def test_a_hundred_concurrent_readers_in_the_api_make_one_call_to_github(
    dynamodb_local_url: str, templates: Templates, github: SimulatedGitHub, attempt: int
) -> None:
    github.state.put("runs", RUN, repository=REPO, status="in_progress")
    client: DynamoDBClient = boto3.client(
        "dynamodb", endpoint_url=dynamodb_local_url, config=Config(max_pool_connections=200)
    )
    create_tables(client, templates["data"])
    recorded = ledger_on(client)
    recorded.record(receipt(IN_PROGRESS, at=0, job_id=1, run_id=RUN if attempt else RUN + 1))
    secret = json.dumps({"app_id": APP_ID, "private_key": github.state.credentials.private_key})
    state = GitHubState(app=GitHubApp.from_secret(secret, api_url=github.url))
    counts = LookupCounts(client, RUNS, max_per_minute=MAX_PER_MINUTE)
    lookups = Lookups(registry=recorded.installations, counts=counts, time=SystemClock())
    requests = Requests(github=state, runs=recorded.runs, deployments=recorded.deployments, lookups=lookups)
    lock, outcomes = threading.Lock(), list[RequestOutcome]()

    def invoke(Payload: bytes, **_: object) -> dict[str, Any]:  # noqa: N803 - as Lambda's client has it
        result = requests.handle(github_requests.from_event(json.loads(Payload)), has_time=lambda: True)
        with lock:
            outcomes.append(result.outcome)
        return {"Payload": io.BytesIO(json.dumps({"outcome": result.outcome}).encode())}

    through = GitHub(lambda: SimpleNamespace(invoke=invoke), "github_requests", clock=lambda: 0.0)
    cache = run_cache(recorded.runs, through.refresh_run)
    with ThreadPoolExecutor(max_workers=100) as pool:
        found = list(pool.map(lambda _: cache.get(RunKey(INSTALLATION, RUN, attempt), REPO), range(100)))
    if attempt == NEWEST_ATTEMPT:  # written under its own number
        found = [recorded.runs.get(RunKey(INSTALLATION, RUN, 1))] * 100
    delete_tables(client)
    client.close()
    assert {run["status"] for run in found if run} == {"in_progress"}
    assert len([run for run in found if run]) == 100
    assert outcomes.count(RequestOutcome.DONE) == 1
    assert calls(github, "/actions/runs/") == 1
