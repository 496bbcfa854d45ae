"""A response that hasn't changed since the last request costs nothing."""

from typing import Any

import pytest
from runledger_github.app import GitHubApp
from runledger_github.calls import Response
from runledger_github.etags import ETags
from runledger_github.installation import Installation

from tests.github.recorded_github import RecordedGitHub


@pytest.mark.usefixtures("finished_run")
def test_unchanged_runs_jobs_and_deployments_cost_no_budget(acme: Installation, github: RecordedGitHub) -> None:
    github.state.put("deployments", 3, repository="acme/web", environment="prod")

    def look() -> list[Any]:
        return [acme.run("acme/web", 1), acme.job("acme/web", 11), acme.deployment("acme/web", 3)]

    first, budget = look(), acme.budget
    assert look() == first
    assert github.statuses == [200, 200, 200, 304, 304, 304]
    assert acme.budget == budget


@pytest.mark.usefixtures("finished_run")
def test_a_changed_job_is_returned(acme: Installation, github: RecordedGitHub) -> None:
    acme.job("acme/web", 11)
    github.state.put("jobs", 11, conclusion="cancelled")
    assert acme.job("acme/web", 11)["conclusion"] == "cancelled"
    assert acme.job("acme/web", 11)["conclusion"] == "cancelled"
    assert github.statuses == [200, 200, 304]


@pytest.mark.usefixtures("finished_run")
def test_what_a_caller_does_to_a_response_is_not_remembered(acme: Installation) -> None:
    job = acme.job("acme/web", 11)
    assert isinstance(job, dict)
    job.clear()
    assert acme.job("acme/web", 11)["name"] == "lint"


@pytest.mark.usefixtures("finished_run")
def test_response_for_one_installation_is_not_shown_to_another(app: GitHubApp, github: RecordedGitHub) -> None:
    github.state.put("installations", 8, account="acme")
    assert app.installation(7).run("acme/web", 1) == app.installation(8).run("acme/web", 1)
    assert github.statuses == [200, 200]


def test_responses_used_last_are_kept() -> None:
    etags = ETags(capacity=2)
    for name in ("/a", "/b"):
        etags.store("us", name, Response(status=200, headers={"etag": name}, body=b""))
    etags.find("us", "/a")
    etags.store("us", "/c", Response(status=200, headers={"etag": "/c"}, body=b""))
    assert [etags.find("us", name) is not None for name in ("/a", "/b", "/c")] == [True, False, True]


def test_response_without_an_etag_is_not_kept() -> None:
    etags = ETags()
    etags.store("us", "/a", Response(status=200, headers={}, body=b""))
    assert etags.find("us", "/a") is None
