"""Runs and deployments that the ledger doesn't have: GitHub is called before the response is 404."""

import io
import json
from typing import Any

import pytest
from runledger.model import times
from runledger.model.keys import RunKey
from runledger.platform.clock import SystemClock
from runledger.queries import caches
from runledger.recording.ledger import Ledger
from runledger.webhooks.readers import dispatcher
from runledger_github import wiring as github_wiring

from local.github import SimulatedGitHub
from tests.api.client import TOKENS, Client
from tests.api.conftest import ELSEWHERE, Live, calls, handle_github_requests
from tests.functions.conftest import World
from tests.support import messages
from tests.support.beds import items
from tests.support.ledgers import RUNS
from tests.support.webhooks import DEPLOYMENT, INSTALLATION, REPO, RUN, delivery

HERE = f"/v1/installations/{INSTALLATION}"
OTHER_RUN, OTHER_DEPLOYMENT = RUN + 1, DEPLOYMENT + 1
OWNER, NAME = REPO.split("/")


@pytest.fixture
def known(live: Live, app: SimulatedGitHub) -> SimulatedGitHub:
    """GitHub, after a job of another run has made the installation and its account known."""
    live(1, run_id=1)
    app.state.put("runs", OTHER_RUN, repository=REPO, run_attempt=3, workflow_id=77, status="in_progress")
    approved = [
        {"state": "waiting", "created_at": "2025-01-15T10:01:00Z"},
        {"state": "in_progress", "created_at": "2025-01-15T10:20:00Z"},
    ]
    app.state.put("deployments", OTHER_DEPLOYMENT, repository=REPO, environment="staging", statuses=approved)
    return app


def test_an_unknown_run_is_looked_up_on_github_by_the_repository_of_the_request(
    api: Client, known: SimulatedGitHub
) -> None:
    response = api.get(f"{HERE}/runs/{OTHER_RUN}", repo=REPO)
    run = response.body["run"]
    assert (response.status, run["run_attempt"], run["status"], run["workflow_id"]) == (200, 3, "in_progress", 77)
    assert (response.body["jobs"], response.body["attempts"], run["repo_full_name"]) == ([], [3], REPO)
    assert api.get(f"{HERE}/runs/{OTHER_RUN}").body["run"]["run_attempt"] == 3
    assert calls(known, "/actions/runs/") == 1


def test_an_unknown_attempt_is_looked_up_by_the_repository_of_a_known_one(
    api: Client, ledger: Ledger, known: SimulatedGitHub
) -> None:
    known.state.put("runs", RUN, repository=REPO, run_attempt=9, status="completed", conclusion="success")
    event, message = messages.run("completed")
    for report in dispatcher.read(delivery(message, guid="run", event=event)):
        ledger.dispatch(report)
    response = api.get(f"{HERE}/runs/{RUN}", run_attempt=7)
    assert (response.status, response.body["run"]["run_attempt"], response.body["attempts"]) == (200, 7, [1, 7])
    assert calls(known, "/attempts/") == 1


def test_an_unknown_deployment_is_looked_up_with_the_time_of_its_approval(api: Client, known: SimulatedGitHub) -> None:
    for _ in range(3):
        response = api.get(f"{HERE}/deployments/{OTHER_DEPLOYMENT}", repo=REPO)
        assert (response.status, response.body["status"], response.body["environment"]) == (200, "approved", "staging")
        assert response.body["approved_at"] == "2025-01-15T10:20:00.000Z"
    assert calls(known, "/statuses") == 1


@pytest.mark.parametrize("path", ["runs/404", "runs/404?run_attempt=2", "deployments/404"])
def test_what_github_does_not_have_either_is_404_and_is_not_requested_again_for_a_while(
    api: Client, known: SimulatedGitHub, path: str
) -> None:
    path, _, attempt = path.partition("?run_attempt=")
    before = sum(known.state.calls.values())
    for _ in range(3):
        assert api.get(f"{HERE}/{path}", repo=REPO, run_attempt=attempt or None).status == 404
    assert calls(known, path.partition("/")[0]) == 1
    assert sum(known.state.calls.values()) == before + 2  # with that for the token


def test_a_miss_is_requested_again_after_five_minutes() -> None:
    now = 1_736_935_200.0
    table: Any = type("Table", (), {"get": lambda *_: {"checked_at": SystemClock(now=lambda: now).text()}})()
    for seconds, expected in ((299, []), (301, ["called"])):
        calls_made = list[str]()

        def refresh(*_: object, calls_made: list[str] = calls_made) -> bool:
            calls_made.append("called")
            return True

        clock = SystemClock(now=lambda seconds=seconds: now + seconds)  # type: ignore[misc]
        assert caches.run_cache(table, refresh, time=clock).get(RunKey(INSTALLATION, 404, 1), REPO) is None
        assert calls_made == expected


def test_a_run_that_was_missing_is_there_as_soon_as_its_webhook_is(
    api: Client, ledger: Ledger, known: SimulatedGitHub
) -> None:
    known.state.remove("runs", RUN)
    assert api.get(f"{HERE}/runs/{RUN}", repo=REPO).status == 404
    event, message = messages.run("completed")
    for report in dispatcher.read(delivery(message, guid="run", event=event)):
        ledger.dispatch(report)
    assert api.get(f"{HERE}/runs/{RUN}", repo=REPO).status == 200


def test_what_one_repository_does_not_have_is_still_looked_up_in_another(api: Client, known: SimulatedGitHub) -> None:
    for path in (f"runs/{OTHER_RUN}", f"deployments/{OTHER_DEPLOYMENT}"):
        assert api.get(f"{HERE}/{path}", repo=f"{OWNER}/another").status == 404
        assert api.get(f"{HERE}/{path}", repo=f"{OWNER}/another".upper()).status == 404
        assert api.get(f"{HERE}/{path}", repo=REPO).status == 200
    assert calls(known, "/actions/runs/") == 2


def test_without_a_repository_github_is_not_called(api: Client, known: SimulatedGitHub) -> None:
    assert api.get(f"{HERE}/runs/{OTHER_RUN}").status == 404
    assert api.get(f"{HERE}/deployments/{OTHER_DEPLOYMENT}").status == 404
    assert known.state.calls == {}


@pytest.mark.parametrize("repo", ["no-owner", "a/b/c", "../app", "acme/..", "acme/x?y", "a" * 300 + "/b"])
def test_a_repository_is_validated_as_in_other_requests(api: Client, known: SimulatedGitHub, repo: str) -> None:
    for path in (f"runs/{OTHER_RUN}", f"deployments/{OTHER_DEPLOYMENT}"):
        response = api.get(f"{HERE}/{path}", repo=repo)
        assert (response.status, response.body["errors"][0]["parameter"]) == (400, "repo")
    assert known.state.calls == {}


def test_a_repository_of_another_account_is_not_looked_up(api: Client, world: World, known: SimulatedGitHub) -> None:
    """A token of one installation reads every public repository: their runs must not get into the ledger."""
    known.state.put("installations", ELSEWHERE, account="stranger")
    known.state.put("runs", 5, repository="stranger/public", status="in_progress")
    assert api.get(f"{HERE}/runs/5", repo="stranger/public").status == 404
    assert known.state.calls == {}
    assert [item["PK"] for item in items(world.dynamodb, RUNS) if item["PK"].startswith(f"{INSTALLATION}#5#")] == []


def test_a_scoped_caller_causes_no_lookup_in_an_installation_that_it_cannot_see(
    api: Client, live: Live, known: SimulatedGitHub
) -> None:
    live(2, installation_id=ELSEWHERE)
    scoped = api.with_token(TOKENS["scoped"])
    assert scoped.get(f"{HERE}/runs/{OTHER_RUN}", repo=REPO).status == 404
    assert scoped.get(f"{HERE}/deployments/{OTHER_DEPLOYMENT}", repo=REPO).status == 404
    assert known.state.calls == {}


def test_without_a_github_app_an_unknown_run_or_deployment_is_404(api: Client, live: Live) -> None:
    live(1)
    for path in (f"runs/{OTHER_RUN}", f"deployments/{OTHER_DEPLOYMENT}"):
        assert api.get(f"{HERE}/{path}", repo=REPO).status == 404


def test_invented_ids_cause_a_bounded_number_of_calls(
    api: Client, known: SimulatedGitHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counted in the table, so that it holds for all instances of the function together."""
    monkeypatch.setattr(github_wiring, "MAX_PER_MINUTE", 3)
    # The test may run across the end of a minute.
    monkeypatch.setattr(times, "minute_of", lambda at: at[: len("2025-01-15")])
    statuses = [api.get(f"{HERE}/runs/{10_000 + number}", repo=REPO).status for number in range(6)]
    assert statuses == [404, 404, 404, 429, 429, 429]
    assert api.get(f"{HERE}/deployments/{OTHER_DEPLOYMENT}", repo=REPO).status == 429
    assert calls(known, "/actions/runs/") == 3


def test_when_github_does_not_respond_an_unknown_run_is_503_and_not_404(
    api: Client, known: SimulatedGitHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert known
    monkeypatch.setenv("GITHUB_API_URL", "http://127.0.0.1:9")
    assert api.get(f"{HERE}/runs/{OTHER_RUN}", repo=REPO).status == 503


def test_a_name_is_stored_as_github_writes_it(api: Client, known: SimulatedGitHub) -> None:
    shouted = f"{OWNER.upper()}/{NAME.upper()}"
    assert api.get(f"{HERE}/deployments/{OTHER_DEPLOYMENT}", repo=shouted).body["repo_full_name"] == REPO
    assert api.get(f"{HERE}/runs/{OTHER_RUN}", repo=shouted).body["run"]["repo_full_name"] == REPO
    assert known


def test_the_public_function_only_reads_and_invokes_the_one_that_holds_the_key(
    api: Client, world: World, known: SimulatedGitHub
) -> None:
    invoked: list[dict[str, Any]] = []

    def run(event: dict[str, Any]) -> dict[str, Any]:
        invoked.append(event)
        response = json.dumps(world.invoke("github_requests", event)).encode()
        return {"Payload": io.BytesIO(response)}

    handle_github_requests(run)
    api.get(f"{HERE}/runs/{OTHER_RUN}", repo=REPO)
    (event,) = invoked
    assert (event["request"], event["run_attempt"], event["repo_full_name"]) == ("refresh_run", 0, REPO)
    assert calls(known, "/actions/runs/") == 1
