"""GitHub's limits: waited out if that is soon, otherwise the caller learns until when."""

import pytest
from runledger.model.errors import RateLimited, UnavailableError
from runledger_github.app import GitHubApp
from runledger_github.errors import BadCredentials
from runledger_github.installation import Installation
from runledger_github.limits import Budget
from runledger_github.retries import RetryLimits

from tests.github.canned_server import CannedServer, http
from tests.github.conftest import Connect
from tests.github.recorded_github import RecordedGitHub
from tests.local.github_client import ManualClock


def test_secondary_limit_is_waited_out(acme: Installation, github: RecordedGitHub, naps: list[float]) -> None:
    github.state.add_fault(kind="secondary_limit", seconds=20, path="/orgs/*")
    assert list(acme.org_runners("acme")) == []
    assert github.statuses == [403, 200]
    assert 20 < naps[0] <= 20.5


@pytest.mark.usefixtures("finished_run")
def test_rerun_is_repeated_after_a_limit_because_github_surely_did_nothing(
    acme: Installation, github: RecordedGitHub
) -> None:
    github.state.add_fault(kind="secondary_limit", seconds=20, method="POST", path="*/rerun-failed-jobs")
    acme.rerun_failed_jobs("acme/web", 1)
    assert github.statuses == [403, 201]


def test_limit_beyond_our_patience_is_passed_on_with_its_end(
    acme: Installation, github: RecordedGitHub, clock: ManualClock, naps: list[float]
) -> None:
    github.state.add_fault(kind="secondary_limit", seconds=31, path="/orgs/*")
    with pytest.raises(UnavailableError, match="no more calls from installation 7 until 2025-01-15 10:00:31") as limit:
        list(acme.org_runners("acme"))
    assert isinstance(limit.value, RateLimited)
    assert limit.value.until == clock().timestamp() + 31
    assert (github.statuses, naps) == ([403], [])


def test_limit_without_a_time_lasts_a_minute(connect: Connect, github: RecordedGitHub, naps: list[float]) -> None:
    github.state.add_fault(kind="error", status=429, path="/orgs/*")
    assert list(connect(limits=RetryLimits(seconds=61)).installation(7).org_runners("acme")) == []
    assert 60 < naps[0] <= 60.5


def test_secondary_limit_is_known_by_its_message_alone(connect: Connect, clock: ManualClock) -> None:
    message = b'{"message": "You have exceeded a secondary rate limit. Please wait a few minutes."}'
    with CannedServer(http("403 Forbidden", message)) as server, pytest.raises(RateLimited) as limit:
        list(connect(server.url).installations())
    assert limit.value.until == clock().timestamp() + 60


@pytest.mark.parametrize("status", [403, 429])
def test_exhausted_budget_is_a_limit_until_its_reset(
    acme: Installation, github: RecordedGitHub, clock: ManualClock, status: int
) -> None:
    github.state.add_fault(kind="primary_limit", status=status, path="/orgs/*")
    with pytest.raises(RateLimited) as limit:
        list(acme.org_runners("acme"))
    assert limit.value.until == clock().timestamp() + 3600


def test_clock_ahead_of_githubs_does_not_turn_a_limit_into_a_refusal(connect: Connect, naps: list[float]) -> None:
    just_past = ("X-RateLimit-Limit: 60", "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 1736935195")
    with CannedServer(http("403 Forbidden", b"{}", *just_past), http("200 OK", b"[]")) as server:
        assert list(connect(server.url).installations()) == []
    assert len(naps) == 1


def test_budget_is_known_after_every_response(acme: Installation, github: RecordedGitHub, clock: ManualClock) -> None:
    github.state.configure(rate_limit=100)
    assert acme.budget is None
    list(acme.org_runners("acme"))
    assert acme.budget == Budget(limit=100, remaining=99, resets_at=int(clock().timestamp()) + 3600)


def test_each_installation_has_a_budget_of_its_own(app: GitHubApp, github: RecordedGitHub) -> None:
    github.state.put("installations", 8, account="globex")
    acme, globex = app.installation(7), app.installation(8)
    list(acme.org_runners("acme"))
    list(acme.org_runners("acme"))
    list(globex.org_runners("globex"))
    assert acme.budget
    assert globex.budget
    assert (acme.budget.remaining, globex.budget.remaining) == (4998, 4999)


def test_github_is_not_called_when_nothing_is_left(acme: Installation, github: RecordedGitHub) -> None:
    github.state.configure(rate_limit=1)
    list(acme.org_runners("acme"))
    with pytest.raises(RateLimited):
        list(acme.org_runners("acme"))
    assert github.statuses == [200]


def test_new_budget_is_waited_for_if_it_comes_soon(
    acme: Installation, github: RecordedGitHub, clock: ManualClock, naps: list[float]
) -> None:
    github.state.configure(rate_limit=1)
    list(acme.org_runners("acme"))
    clock.advance(minutes=59, seconds=45)
    list(acme.org_runners("acme"))
    assert github.statuses == [200, 200]
    assert 15 < sum(naps) <= 16


def test_refused_credentials_and_server_errors_do_not_change_our_budget(connect: Connect) -> None:
    anonymous = ("X-RateLimit-Limit: 60", "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 1736938800")
    refused, broken = http("401 Unauthorized", b"{}", *anonymous), http("502 Bad Gateway", b"{}", *anonymous)
    token = http("201 Created", b'{"token": "ghs_1", "expires_at": "2025-01-15T11:00:00Z"}')
    with CannedServer(token, refused, token, refused, broken, http("200 OK", b"[]")) as server:
        acme = connect(server.url).installation(7)
        with pytest.raises(BadCredentials):
            list(acme.deployment_statuses("acme/web", 1))
        assert list(acme.deployment_statuses("acme/web", 1)) == []
    assert acme.budget is None


def test_limit_is_remembered_for_every_call_of_its_caller_until_it_ends(
    app: GitHubApp, acme: Installation, github: RecordedGitHub, clock: ManualClock
) -> None:
    github.state.put("installations", 8, account="globex")
    github.state.add_fault(kind="secondary_limit", seconds=120, path="/orgs/acme/*")
    with pytest.raises(RateLimited) as first:
        list(acme.org_runners("acme"))
    with pytest.raises(RateLimited) as second:
        list(acme.repo_runners("acme/web"))
    assert first.value.until == second.value.until
    assert github.statuses == [403]
    assert list(app.installation(8).org_runners("globex")) == []
    clock.advance(seconds=121)
    assert list(acme.org_runners("acme")) == []
    assert github.statuses == [403, 200, 200]
