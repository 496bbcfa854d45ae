"""Every call and response matches GitHub's OpenAPI document."""

import pytest
from runledger.model.errors import UnavailableError
from runledger_github.app import GitHubApp
from runledger_github.errors import BadName, NotFound, Refused
from runledger_github.installation import Installation

from tests.github.recorded_github import RecordedGitHub
from tests.local.webhook_receiver import WebhookReceiver

REPO = "/repos/acme/web"


def test_installations_of_the_app_are_listed(app: GitHubApp, github: RecordedGitHub) -> None:
    github.state.put("installations", 8, account="globex", suspended_at="2025-01-15T10:00:00Z")
    assert [(one["id"], one["account"]["login"]) for one in app.installations()] == [(7, "acme"), (8, "globex")]
    assert github.calls == ["GET /app/installations?per_page=100"]


def test_find_installation_returns_none_for_an_unknown_id(app: GitHubApp, github: RecordedGitHub) -> None:
    found = app.find_installation(7)
    assert found is not None
    assert (found["account"]["login"], found["suspended_at"]) == ("acme", None)
    assert app.find_installation(8) is None
    assert github.calls == [
        "GET /app/installations/7",
        "GET /app/installations/8",
        "GET /app/installations?per_page=100",
    ]


def test_one_404_does_not_make_a_listed_installation_deleted(app: GitHubApp, github: RecordedGitHub) -> None:
    github.state.add_fault(kind="error", status=404, path="/app/installations/7")
    with pytest.raises(UnavailableError, match="GitHub lists installation 7, but returns 404 for it"):
        app.find_installation(7)
    assert app.find_installation(7) is not None


@pytest.mark.usefixtures("finished_run")
def test_a_run_is_read_by_its_newest_or_by_a_given_attempt(acme: Installation, github: RecordedGitHub) -> None:
    acme.rerun_failed_jobs("acme/web", 1)
    assert [acme.run("acme/web", 1)["run_attempt"], acme.run("acme/web", 1, 1)["conclusion"]] == [2, "failure"]
    runs = f"{REPO}/actions/runs/1"
    assert github.calls == [f"POST {runs}/rerun-failed-jobs", f"GET {runs}", f"GET {runs}/attempts/1"]


@pytest.mark.usefixtures("finished_run")
def test_jobs_of_an_attempt_are_listed_and_a_single_job_is_found(acme: Installation, github: RecordedGitHub) -> None:
    assert [job["name"] for job in acme.run_jobs("acme/web", 1, 1)] == ["lint", "test"]
    assert acme.job("acme/web", 12)["runner_id"] == 5
    assert github.calls == [f"GET {REPO}/actions/runs/1/attempts/1/jobs?per_page=100", f"GET {REPO}/actions/jobs/12"]


def test_a_deployment_is_found_and_its_statuses_are_listed(acme: Installation, github: RecordedGitHub) -> None:
    github.state.put("runs", 1, repository="acme/web")
    states = [{"state": "queued"}, {"state": "in_progress"}]
    github.state.put(
        "deployments", 3, repository="acme/web", environment="prod", run_id=1, awaits_approval=True, statuses=states
    )
    assert acme.deployment("acme/web", 3)["environment"] == "prod"
    assert [one["state"] for one in acme.deployment_statuses("acme/web", 3)] == ["in_progress", "queued"]
    assert github.calls == [
        f"GET {REPO}/deployments/3",
        f"GET {REPO}/deployments/3/statuses?per_page=100",
    ]


def test_runners_of_a_repository_and_of_an_organisation_are_listed_and_removed(
    acme: Installation, github: RecordedGitHub
) -> None:
    github.state.put("runners", 4, scope="acme/web", name="i-0web")
    github.state.put("runners", 5, scope="acme", name="i-0org")
    assert [one["name"] for one in acme.repo_runners("acme/web")] == ["i-0web"]
    assert [one["name"] for one in acme.org_runners("acme")] == ["i-0org"]
    acme.delete_repo_runner("acme/web", 4)
    acme.delete_org_runner("acme", 5)
    assert github.state.runners == {}
    assert github.calls == [
        f"GET {REPO}/actions/runners?per_page=100",
        "GET /orgs/acme/actions/runners?per_page=100",
        f"DELETE {REPO}/actions/runners/4",
        "DELETE /orgs/acme/actions/runners/5",
    ]


def test_runner_that_is_gone_already_is_as_good_as_deleted(acme: Installation, github: RecordedGitHub) -> None:
    acme.delete_org_runner("acme", 5)
    assert github.statuses == [404]


def test_busy_runner_is_not_deleted(acme: Installation, github: RecordedGitHub) -> None:
    github.state.put("runners", 5, scope="acme", name="i-0abc", busy=True)
    with pytest.raises(Refused, match="still running a job") as refusal:
        acme.delete_org_runner("acme", 5)
    assert refusal.value.status == 422
    assert github.statuses == [422]


def test_delivery_is_found_in_the_log_and_sent_again(app: GitHubApp, github: RecordedGitHub) -> None:
    with WebhookReceiver() as receiver:
        github.state.configure(webhook_url=receiver.url, webhook_secret="s3cret")
        receiver.responses = [500]
        sent = github.courier.send("workflow_job", {"action": "queued"})
        [page] = app.hook_deliveries()
        assert [(one["guid"], one["status_code"]) for one in page.deliveries] == [(sent.guid, 500)]
        app.redeliver(page.deliveries[0]["id"])
        github.courier.settle()
        [page] = app.hook_deliveries()
    assert [(one["guid"], one["status_code"]) for one in page.deliveries] == [(sent.guid, 202), (sent.guid, 500)]
    assert github.calls[1] == f"POST /app/hook/deliveries/{sent.id}/attempts"


def test_what_another_account_owns_is_not_found(acme: Installation) -> None:
    with pytest.raises(NotFound, match="installation 7"):
        acme.run("globex/web", 1)


@pytest.mark.parametrize(
    "name",
    ["acme/web/../../orgs?x=", "acme/..", "acme/.", "../web", "acme", "acme/", "/web", "", "acme/we%2fb", "a/b\n"],
)
def test_a_repository_that_cannot_exist_is_not_requested(acme: Installation, github: RecordedGitHub, name: str) -> None:
    for call in (acme.run, acme.job, acme.deployment, acme.rerun_failed_jobs, acme.delete_repo_runner):
        with pytest.raises(BadName):
            call(name, 1)
    assert github.calls == []


@pytest.mark.parametrize("name", ["..", ".", ""])
def test_an_organisation_that_cannot_exist_is_not_requested(
    acme: Installation, github: RecordedGitHub, name: str
) -> None:
    with pytest.raises(BadName):
        acme.delete_org_runner(name, 1)
    assert github.calls == []
