"""Read-through caches: GitHub is called only when necessary, and once for all readers that wait."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.config import Config
from runledger.model.errors import UnavailableError
from runledger.model.keys import DeploymentKey, RunKey
from runledger.platform.clock import SystemClock
from runledger.queries import caches
from runledger.queries.caches import Cache, Refresh, deployment_cache
from runledger.tables.runs import RunsTable
from runledger_github.app import GitHubApp
from runledger_github.state import GitHubState

from local.github import SimulatedGitHub
from local.github.credentials import APP_ID
from tests.support.beds import items
from tests.support.ledgers import DEPLOYMENTS, ledger_on
from tests.support.webhooks import INSTALLATION, REPO

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

RUN, DEPLOYMENT = 1, 5


@dataclass
class Clock:
    """Moves only when a caller waits, or a test moves it."""

    seconds: float = 1_736_935_200.0
    naps: list[float] = field(default_factory=list)

    def now(self) -> float:
        return self.seconds

    def sleep(self, seconds: float) -> None:
        self.naps.append(seconds)
        self.seconds += seconds

    @property
    def time(self) -> SystemClock:
        return SystemClock(now=self.now, sleep=self.sleep)


@pytest.fixture
def github(github: SimulatedGitHub) -> SimulatedGitHub:
    github.state.put("runs", RUN, repository=REPO, status="in_progress")
    return github


@pytest.fixture
def state(github: SimulatedGitHub) -> GitHubState:
    secret = json.dumps({"app_id": APP_ID, "private_key": github.state.credentials.private_key})
    return GitHubState(app=GitHubApp.from_secret(secret, api_url=github.url))


def run_cache(runs: RunsTable, fetch: Any, time: SystemClock | None = None) -> Cache[RunKey]:
    """Refreshed in the same process."""
    time = time or SystemClock()
    return caches.run_cache(runs, Refresh(table=runs, fetch=fetch, time=time), time=time)


def calls_to(github: SimulatedGitHub, of: str) -> int:
    return sum(count for route, count in github.state.calls.items() if of in str(route))


def test_an_unfinished_run_is_requested_again_after_25_seconds_and_a_finished_one_never(
    dynamodb: "DynamoDBClient", github: SimulatedGitHub, state: GitHubState
) -> None:
    clock = Clock()
    cache = run_cache(ledger_on(dynamodb).runs, GitHubState(app=state.app, clock=clock.now).run, clock.time)
    for seconds, expected_calls in ((0, 1), (24, 1), (2, 2), (26, 3)):
        clock.seconds += seconds
        found = cache.get(RunKey(INSTALLATION, RUN, 1), REPO)
        assert found is not None
        assert found["status"] == "in_progress"
        assert calls_to(github, "/attempts/") == expected_calls
    github.state.put("runs", RUN, repository=REPO, status="completed", conclusion="success")
    clock.seconds += 26
    for _ in range(3):
        clock.seconds += 1000
        found = cache.get(RunKey(INSTALLATION, RUN, 1), REPO)
        assert found is not None
        assert (found["status"], found["conclusion"]) == ("completed", "success")
    assert calls_to(github, "/attempts/") == 4


def test_a_run_that_github_does_not_have_is_none_and_is_not_requested_again_at_once(
    dynamodb: "DynamoDBClient", github: SimulatedGitHub, state: GitHubState
) -> None:
    cache = run_cache(ledger_on(dynamodb).runs, state.run)
    assert [cache.get(RunKey(INSTALLATION, 404, 1), REPO) for _ in range(3)] == [None] * 3
    assert calls_to(github, "/attempts/") == 1


def test_a_reader_that_read_before_a_lookup_ended_calls_github_only_about_another_repository(
    dynamodb: "DynamoDBClient", github: SimulatedGitHub, state: GitHubState
) -> None:
    """It can claim the run, because the lookup has ended its claim."""
    runs, key, clock = ledger_on(dynamodb).runs, RunKey(INSTALLATION, 404, 1), Clock()
    look_up = Refresh(table=runs, fetch=state.run, time=clock.time, is_lookup=True)
    assert look_up(key, REPO)
    assert not look_up(key, REPO)
    assert calls_to(github, "/attempts/") == 1
    clock.seconds += caches.CLAIM_SECONDS + 1
    assert look_up(key, f"{REPO}-2")
    clock.seconds += caches.MISS_FRESH_SECONDS + 1
    assert look_up(key, f"{REPO}-2")
    assert calls_to(github, "/attempts/") == 3


def test_while_github_is_unavailable_the_last_response_is_used_and_without_one_an_error_is_raised(
    dynamodb: "DynamoDBClient", state: GitHubState
) -> None:
    clock = Clock()
    responses = iter([state.run(RunKey(INSTALLATION, RUN, 1), REPO)])

    def fetch(*_: object) -> object:
        try:
            return next(responses)
        except StopIteration:
            raise UnavailableError("GitHub is away") from None

    cache = run_cache(ledger_on(dynamodb).runs, fetch, clock.time)
    assert cache.get(RunKey(INSTALLATION, RUN, 1), REPO) is not None
    clock.seconds += 10_000
    assert cache.get(RunKey(INSTALLATION, RUN, 1), REPO) is not None
    with pytest.raises(UnavailableError):
        cache.get(RunKey(INSTALLATION, 2, 1), REPO)


def test_the_claim_of_a_reader_that_crashed_expires(dynamodb: "DynamoDBClient", state: GitHubState) -> None:
    clock = Clock()
    runs = ledger_on(dynamodb).runs
    cache = run_cache(runs, state.run, clock.time)
    assert runs.claim(RunKey(INSTALLATION, RUN, 1), at=clock.time.text(), until=clock.time.text(seconds_from_now=10))
    assert cache.get(RunKey(INSTALLATION, RUN, 1), REPO) is not None
    assert sum(clock.naps) == pytest.approx(10, abs=0.2)


def test_readers_that_wait_for_a_claim_only_read(dynamodb: "DynamoDBClient") -> None:
    """An attempt to claim is a write, or in the API an invocation."""
    clock, runs, attempts = Clock(), ledger_on(dynamodb).runs, list[float]()
    assert runs.claim(RunKey(INSTALLATION, RUN, 1), at=clock.time.text(), until=clock.time.text(seconds_from_now=10))

    def refresh(_key: object, _repo: str) -> bool:
        attempts.append(clock.seconds)
        return True

    begun = clock.seconds
    assert caches.run_cache(runs, refresh, time=clock.time).get(RunKey(INSTALLATION, RUN, 1), REPO) is None
    assert [round(at - begun) for at in attempts] == [10]


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        ([], {"status": "pending"}),
        (["waiting"], {"status": "pending"}),
        (["waiting", "in_progress", "failure"], {"status": "approved", "approved_at": "2025-01-15T10:01:00.000Z"}),
        (["waiting", "failure", "error"], {"status": "rejected", "rejected_at": "2025-01-15T10:01:00.000Z"}),
    ],
    ids=["none", "waiting", "approved", "rejected"],
)
def test_a_deployment_is_requested_with_all_its_states_and_has_the_time_of_the_one_that_decides(
    dynamodb: "DynamoDBClient", github: SimulatedGitHub, state: GitHubState, states: list[str], expected: dict[str, str]
) -> None:
    github.state.put(
        "deployments",
        DEPLOYMENT,
        repository=REPO,
        environment="production",
        statuses=[
            {"state": each, "created_at": f"2025-01-15T10:{minute:02}:00Z"} for minute, each in enumerate(states)
        ],
    )
    deployments = ledger_on(dynamodb).deployments
    cache = deployment_cache(deployments, Refresh(table=deployments, fetch=state.deployment))
    found = cache.get(DeploymentKey(INSTALLATION, DEPLOYMENT), REPO)
    assert found is not None
    assert found["environment"] == "production"
    assert {name: found[name] for name in ("status", "approved_at", "rejected_at") if name in found} == expected
    assert found["requires_approval"] is ("waiting" in states)
    assert len(items(dynamodb, DEPLOYMENTS)) == 1


@pytest.mark.server
def test_a_hundred_concurrent_readers_of_an_unfinished_run_make_one_call(
    dynamodb_local: "DynamoDBClient",  # noqa: ARG001 - it makes the tables
    dynamodb_local_url: str,
    github: SimulatedGitHub,
    state: GitHubState,
) -> None:
    client = boto3.client("dynamodb", endpoint_url=dynamodb_local_url, config=Config(max_pool_connections=100))
    cache = run_cache(ledger_on(client).runs, state.run)
    with ThreadPoolExecutor(max_workers=100) as pool:
        found = list(pool.map(lambda _: cache.get(RunKey(INSTALLATION, RUN, 1), REPO), range(100)))
    client.close()
    assert {run["status"] for run in found if run} == {"in_progress"}
    assert len([run for run in found if run]) == 100
    assert calls_to(github, "/attempts/") == 1
