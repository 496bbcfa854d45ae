"""The public API function has neither the GitHub App's key nor the right to write GitHub's reports."""

import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ReadTimeoutError
from runledger.queries import github_requests
from runledger.queries.caches import LONGEST_WAIT_SECONDS
from runledger.queries.github_requests import RequestOutcome

from local.github import SimulatedGitHub
from local.processes import clean_environment
from stacks.constructs import api_function
from stacks.constructs import github_requests as github_requests_stack
from tests.api.client import Client
from tests.api.conftest import Live, api, app, calls, handle_github_requests, ledger, live, pass_requests
from tests.functions.conftest import World, world
from tests.support.settings import SETTINGS
from tests.support.synthesis import Templates
from tests.support.template_functions import as_list, functions, statements
from tests.support.webhooks import DEPLOYMENT, IN_PROGRESS, INSTALLATION, QUEUED_AGAIN, REPO, RUN

__all__ = ["api", "app", "ledger", "live", "pass_requests", "world"]

ROOT = Path(__file__).parent.parent.parent
HERE = f"/v1/installations/{INSTALLATION}"


def granted(templates: Templates, function: str) -> set[tuple[str, str, str]]:
    """Action, a word for the resource, and the condition."""
    template, properties = functions(templates)[function]
    found = set()
    for statement in statements(template, properties["Role"]["Fn::GetAtt"][0]):
        for action in as_list(statement["Action"]):
            for resource in as_list(statement["Resource"]):
                found.add((action, word_for(resource), json.dumps(statement.get("Condition", {}))))
    return found


def word_for(resource: Any) -> str:
    """The table, index, secret, queue or function that an ARN in a template names."""
    text = json.dumps(resource)
    index = text.rpartition("/index/")[2].partition('"')[0] if "/index/" in text else ""
    names = (
        *("WorkflowJobEvents", "WorkflowJobs", "WorkflowRuns", "Deployments", "Runners", "GitHubApp", "ApiTokens"),
        *("GithubRequests", "Reconciler", "DeadLetters", "Logs"),
    )
    (name, *_) = [each for each in names if each in text]
    return f"{name}/{index}" if index else name


def test_only_the_functions_that_call_github_may_read_the_apps_key(templates: Templates) -> None:
    readers = {
        name
        for name in functions(templates)
        if any("GitHubApp" in json.dumps(each["Resource"]) for each in policy(templates, name))
    }
    assert readers == {"RunRetry", "Reconciler", "GithubRequests"}


def policy(templates: Templates, function: str) -> list[dict[str, Any]]:
    template, properties = functions(templates)[function]
    return statements(template, properties["Role"]["Fn::GetAtt"][0])


def test_the_api_function_has_no_other_permissions(templates: Templates) -> None:
    """An attacker who controls its code could read the ledger, and run what an operator may run."""
    of_passes = json.dumps({"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": ["passes"]}})
    found = granted(templates, "Api")
    assert {each for each in found if each[0] == "dynamodb:UpdateItem"} == {
        ("dynamodb:UpdateItem", "Runners", of_passes)
    }
    assert {(action, name) for action, name, _ in found if not action.startswith(("dynamodb:", "logs:"))} == {
        ("secretsmanager:GetSecretValue", "ApiTokens"),
        ("lambda:InvokeFunction", "GithubRequests"),
        ("lambda:InvokeFunction", "Reconciler"),
        ("sqs:GetQueueAttributes", "DeadLetters"),
    }
    on_tables = [(action.removeprefix("dynamodb:"), name) for action, name, _ in found if "dynamodb:" in action]
    assert set(on_tables) == {
        *(("Query", "WorkflowJobs"), ("BatchGetItem", "WorkflowJobs"), ("Query", "WorkflowJobEvents")),
        *(("GetItem", "WorkflowRuns"), ("BatchGetItem", "WorkflowRuns"), ("GetItem", "Deployments")),
        *(("GetItem", "Runners"), ("Query", "Runners"), ("BatchGetItem", "Runners"), ("UpdateItem", "Runners")),
        *(("Query", f"WorkflowJobs/{name}") for name in ("by_status", "by_repo", "by_run", "by_completion")),
        ("Query", "Runners/by_status"),
    }


def test_the_api_has_neither_the_keys_name_nor_the_client_that_would_use_it(templates: Templates) -> None:
    _, function = functions(templates)["Api"]
    assert not [name for name in function["Environment"]["Variables"] if name.startswith("GITHUB_A")]
    assert not [layer for layer in function["Layers"] if "GithubLayer" in str(layer)]
    code = "import sys, api; print([name for name in sys.modules if name.startswith(('runledger_github', 'jwt'))])"
    started = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=clean_environment(
            **SETTINGS,
            AWS_ACCESS_KEY_ID="test",
            PYTHONPATH="functions:layers/domain/python:layers/api/python",
        ),
        check=True,
        capture_output=True,
        text=True,
    )
    assert started.stdout == "[]\n"


def test_the_function_reads_accounts_in_the_table_of_jobs_and_no_job(templates: Templates) -> None:
    of_accounts = json.dumps({"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": ["installations"]}})
    on_jobs = {each for each in granted(templates, "GithubRequests") if each[1] == "WorkflowJobs"}
    assert on_jobs == {("dynamodb:GetItem", "WorkflowJobs", of_accounts)}


def test_only_the_api_invokes_the_function_that_calls_github_for_it(templates: Templates) -> None:
    invoking = {
        name
        for name in functions(templates)
        for statement in policy(templates, name)
        if "lambda:InvokeFunction" in as_list(statement["Action"]) and "GithubRequests" in json.dumps(statement)
    }
    assert invoking == {"Api"}


def test_a_wait_for_another_reader_and_a_refresh_fit_into_the_apis_own_time() -> None:
    waiting = LONGEST_WAIT_SECONDS + github_requests_stack.SECONDS_FOR_THE_API_TO_WAIT
    assert waiting < api_function.TIMEOUT.to_seconds()
    assert github_requests_stack.TIMEOUT.to_seconds() < github_requests_stack.SECONDS_FOR_THE_API_TO_WAIT


def test_an_unfinished_run_is_refreshed_by_that_function(api: Client, live: Live, app: SimulatedGitHub) -> None:
    live(1, until=IN_PROGRESS)
    assert api.get(f"{HERE}/runs/{RUN}").body["run"]["conclusion"] == "failure"
    assert api.get(f"{HERE}/runs/{RUN}").body["run"]["status"] == "completed"
    assert calls(app, "/attempts/") == 1


def test_a_pending_deployment_is_refreshed_by_that_function(api: Client, live: Live, app: SimulatedGitHub) -> None:
    live(1, until=QUEUED_AGAIN)
    for _ in range(3):
        assert api.get(f"{HERE}/deployments/{DEPLOYMENT}").body["checked_at"]
    assert calls(app, "/statuses") == 1


def time_out(_: object) -> dict[str, Any]:
    raise ReadTimeoutError(endpoint_url="https://lambda.invalid")


def crash(_: object) -> dict[str, Any]:
    return {"FunctionError": "Unhandled", "Payload": io.BytesIO(b'{"errorMessage": "Task timed out"}')}


def refuse(_: object) -> dict[str, Any]:
    return {"Payload": io.BytesIO(json.dumps({"outcome": "refused", "message": "suspended"}).encode())}


@pytest.mark.parametrize("failing", [time_out, crash, refuse])
def test_when_the_refresh_fails_the_response_comes_from_the_table(
    api: Client, live: Live, log: io.StringIO, failing: Callable[[object], dict[str, Any]]
) -> None:
    live(1, until=QUEUED_AGAIN)
    handle_github_requests(failing)
    run, deployment = api.get(f"{HERE}/runs/{RUN}"), api.get(f"{HERE}/deployments/{DEPLOYMENT}")
    assert (run.status, run.body["run"]["status"]) == (200, "queued")
    assert (deployment.status, deployment.body["status"]) == (200, "pending")
    assert [json.loads(line)["message"] for line in log.getvalue().splitlines()] == ["not refreshed"] * 2


@pytest.mark.usefixtures("app")
def test_with_an_unavailable_github_the_response_comes_from_the_table(
    api: Client, live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    live(1, until=IN_PROGRESS)
    monkeypatch.setenv("GITHUB_API_URL", "http://127.0.0.1:9")
    assert api.get(f"{HERE}/runs/{RUN}").body["run"]["status"] == "in_progress"


def test_without_an_app_the_function_is_not_invoked_for_every_response(world: World, api: Client, live: Live) -> None:
    live(1, until=IN_PROGRESS)
    invoked: list[dict[str, Any]] = []

    def run(event: dict[str, Any]) -> dict[str, Any]:
        invoked.append(event)
        return {"Payload": io.BytesIO(json.dumps(world.invoke("github_requests", event)).encode())}

    handle_github_requests(run)
    for _ in range(5):
        assert api.get(f"{HERE}/runs/{RUN}").status == 200
    assert [event["request"] for event in invoked] == ["refresh_run"]
    assert invoked[0]["correlation_id"] == "a-request"


def test_an_action_reaches_github_and_its_refusal_reaches_the_operator(
    api: Client, live: Live, app: SimulatedGitHub
) -> None:
    live(1, conclusion="failure")
    app.state.put("jobs", 1, run_id=RUN, status="completed", conclusion="failure")
    assert api.post(f"{HERE}/runs/{RUN}/rerun").status == 202
    again = api.post(f"{HERE}/runs/{RUN}/rerun")
    assert (again.status, again.body["detail"].startswith("GitHub refused the request: ")) == (409, True)
    missing = api.post("/admin/webhooks/72d3162e-cc78-11e3-81ab-4c9367dc0958/redeliver")
    assert missing.status == 404
    assert calls(app, "rerun-failed-jobs") == 2


@pytest.mark.parametrize(
    ("outcome", "status"),
    [("rate_limited", 429), ("unavailable", 503), ("no_app", 409), ("not_found", 404), ("refused", 409)],
)
def test_the_outcome_of_an_action_decides_the_status(api: Client, live: Live, outcome: str, status: int) -> None:
    live(1, conclusion="failure")
    handle_github_requests(lambda _: {"Payload": io.BytesIO(json.dumps({"outcome": outcome}).encode())})
    assert api.post(f"{HERE}/runs/{RUN}/rerun").status == status


BAD_EVENTS: dict[str, dict[str, Any]] = {
    "nothing": {},
    "an unknown request": {"request": "delete_runner", "installation_id": 1, "run_id": 1},
    "no attempt": {"request": "refresh_run", "installation_id": 1, "run_id": 1},
    "ids as text": {"request": "refresh_run", "installation_id": "1", "run_id": "../../../app", "run_attempt": 1},
    "a repository as a number": {
        "request": "refresh_run",
        "installation_id": 1,
        "run_id": 1,
        "run_attempt": 1,
        "repo_full_name": 5,
    },
    "a boolean": {"request": "refresh_run", "installation_id": True, "run_id": 1, "run_attempt": 1},
}


@pytest.mark.parametrize("event", BAD_EVENTS.values(), ids=BAD_EVENTS)
def test_the_function_refuses_what_is_no_request(event: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"is missing or has|is not a known kind"):
        github_requests.from_event(event)


@pytest.mark.parametrize("kind", ["refresh_run", "rerun_failed_jobs"])
def test_the_function_calls_github_only_about_accounts_of_the_ledger(
    world: World, app: SimulatedGitHub, kind: str
) -> None:
    """Even if an attacker controls the API's code: no installation has this account yet."""
    event = {"request": kind, "installation_id": INSTALLATION, "run_id": RUN, "run_attempt": 1}
    result = world.invoke("github_requests", {**event, "repo_full_name": REPO})
    assert (result["outcome"], app.state.calls) == (RequestOutcome.NOT_FOUND, {})
