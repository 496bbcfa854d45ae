"""Permanent errors aren't retried."""

import pytest
from runledger.model.errors import GitHubRefusal, UnavailableError
from runledger_github.errors import NotFound, Refused
from runledger_github.installation import Installation

from tests.github.canned_server import CannedServer, http
from tests.github.conftest import Connect
from tests.github.recorded_github import RecordedGitHub


def test_run_that_is_not_finished_cannot_be_run_again(
    acme: Installation, github: RecordedGitHub, naps: list[float]
) -> None:
    github.state.put("runs", 1, repository="acme/web")
    github.state.put("jobs", 11, run_id=1, status="in_progress")
    with pytest.raises(Refused) as refusal:
        acme.rerun_failed_jobs("acme/web", 1)
    assert (refusal.value.status, refusal.value.message) == (403, "This workflow is already running")
    assert (github.statuses, naps) == ([403], [])


@pytest.mark.parametrize("status", [400, 403, 409, 410, 422, 451])
def test_refusal_carries_githubs_status_and_message(
    acme: Installation, github: RecordedGitHub, naps: list[float], status: int
) -> None:
    github.state.add_fault(kind="error", status=status, path="/orgs/*")
    with pytest.raises(Refused, match=f"GET /orgs/acme/actions/runners.*: {status} Server Error") as refusal:
        list(acme.org_runners("acme"))
    assert refusal.value.status == status
    assert (github.statuses, naps) == ([status], [])


def test_missing_thing_is_not_looked_for_twice(acme: Installation, github: RecordedGitHub, naps: list[float]) -> None:
    with pytest.raises(NotFound, match="GET /repos/acme/web/actions/jobs/1 as installation 7: 404 Not Found"):
        acme.job("acme/web", 1)
    assert (github.statuses, naps) == ([404], [])


def test_unknown_installation_is_not_found(connect: Connect, github: RecordedGitHub) -> None:
    with pytest.raises(NotFound, match="as the App"):
        list(connect().installation(99).org_runners("acme"))
    assert github.calls == []


def test_permanent_errors_are_never_treated_as_transient() -> None:
    assert not issubclass(GitHubRefusal, UnavailableError)


def test_renamed_repository_is_followed(connect: Connect) -> None:
    token = http("201 Created", b'{"token": "ghs_1", "expires_at": "2025-01-15T11:00:00Z"}')
    moved = http("301 Moved Permanently", b"{}", "Location: /repositories/9/actions/runs/1")
    with CannedServer(token, moved, http("200 OK", b'{"id": 1}')) as server:
        assert connect(server.url).installation(7).run("acme/old", 1) == {"id": 1}
    assert server.requests[2].startswith(b"GET /repositories/9/actions/runs/1 ")
    assert b"ghs_1" in server.requests[2]


def test_token_does_not_follow_a_redirect_to_another_host(connect: Connect) -> None:
    with CannedServer(http("200 OK", b"[]")) as elsewhere, CannedServer() as server:
        server.responses = [http("307 Temporary Redirect", b"", f"Location: {elsewhere.url}/steal")]
        list(connect(server.url).installations())
    assert b"uthorization" in server.requests[0]
    assert b"uthorization" not in elsewhere.requests[0]
