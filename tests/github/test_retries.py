"""Transient errors are retried within limits, except calls that GitHub may have executed already."""

import socket
from typing import Any

import pytest
import urllib3
from runledger.model.errors import NoResponseError, RateLimited, UnavailableError
from runledger_github.app import GitHubApp
from runledger_github.errors import OutOfTime
from runledger_github.installation import Installation
from runledger_github.retries import RetryLimits

from tests.github.canned_server import CannedServer, http
from tests.github.conftest import Connect
from tests.github.recorded_github import RecordedGitHub
from tests.local.github_client import ManualClock

# Long enough for a response on a busy machine. Slow responses take an hour.
READ_SECONDS = 1
RERUN = "/repos/acme/web/actions/runs/1/rerun-failed-jobs"


@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_server_error_is_survived(acme: Installation, github: RecordedGitHub, naps: list[float], status: int) -> None:
    github.state.add_fault(kind="error", status=status, path="/orgs/*", times=2)
    assert list(acme.org_runners("acme")) == []
    assert github.statuses == [status, status, 200]
    assert 0.25 <= naps[0] <= 0.5 <= naps[1] <= 1


def test_a_token_request_is_repeated_after_a_server_error(acme: Installation, github: RecordedGitHub) -> None:
    github.state.add_fault(kind="error", path="*/access_tokens")
    assert list(acme.org_runners("acme")) == []


@pytest.mark.usefixtures("finished_run")
def test_rerun_may_wait_for_its_token(acme: Installation, github: RecordedGitHub) -> None:
    github.state.add_fault(kind="error", path="*/access_tokens")
    acme.rerun_failed_jobs("acme/web", 1)
    assert github.statuses == [201]


def test_number_of_tries_is_bounded_also_while_there_is_no_token(
    connect: Connect, github: RecordedGitHub, naps: list[float]
) -> None:
    github.state.add_fault(kind="error", path="*/access_tokens", times=None)
    with pytest.raises(UnavailableError, match="502 Server Error"):
        list(connect(limits=RetryLimits(tries=3)).installation(7).org_runners("acme"))
    assert (github.tokens_issued, len(naps)) == (3, 2)


def test_total_patience_is_bounded(connect: Connect, github: RecordedGitHub, naps: list[float]) -> None:
    github.state.add_fault(kind="error", times=None)
    with pytest.raises(NoResponseError):
        list(connect(limits=RetryLimits(tries=100, seconds=10)).installations())
    assert sum(naps) <= 10
    assert len(naps) < 10


@pytest.mark.usefixtures("finished_run")
@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_rerun_is_not_repeated_after_a_response_that_leaves_open_whether_it_was_done(
    acme: Installation, github: RecordedGitHub, naps: list[float], status: int
) -> None:
    github.state.add_fault(kind="error", status=status, path=RERUN)
    with pytest.raises(NoResponseError) as trouble:
        acme.rerun_failed_jobs("acme/web", 1)
    assert not trouble.value.repeatable
    assert (github.calls, naps) == ([f"POST {RERUN}"], [])


@pytest.mark.usefixtures("finished_run")
def test_rerun_that_takes_too_long_is_done_once(connect: Connect, github: RecordedGitHub, naps: list[float]) -> None:
    github.state.add_fault(kind="slow", seconds=3600, path=RERUN)
    acme = connect(read_seconds=READ_SECONDS).installation(7)
    with pytest.raises(NoResponseError, match="timed out"):
        acme.rerun_failed_jobs("acme/web", 1)
    assert acme.run("acme/web", 1)["run_attempt"] == 2
    assert naps == []


def test_redelivery_is_not_repeated_either(app: GitHubApp, github: RecordedGitHub) -> None:
    github.state.add_fault(kind="error", method="POST")
    with pytest.raises(NoResponseError):
        app.redeliver(1)
    assert github.statuses == [502]


def test_read_that_takes_too_long_is_repeated(connect: Connect, github: RecordedGitHub, naps: list[float]) -> None:
    github.state.add_fault(kind="slow", seconds=3600, path="/orgs/*")
    assert list(connect(read_seconds=READ_SECONDS).installation(7).org_runners("acme")) == []
    assert len(naps) == 1


def test_deletion_that_takes_too_long_is_repeated_and_finds_the_runner_gone(
    connect: Connect, github: RecordedGitHub
) -> None:
    github.state.put("runners", 5, scope="acme", name="i-0abc")
    github.state.add_fault(kind="slow", seconds=3600, path="/orgs/*")
    connect(read_seconds=READ_SECONDS).installation(7).delete_org_runner("acme", 5)
    assert github.statuses == [404]
    assert github.calls == ["DELETE /orgs/acme/actions/runners/5"] * 2


def test_refused_connection_is_tried_again_for_every_call(connect: Connect, naps: list[float]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        url = f"http://127.0.0.1:{closed.getsockname()[1]}"
    with pytest.raises(NoResponseError, match="refused"):
        connect(url, limits=RetryLimits(tries=3)).redeliver(1)
    assert len(naps) == 2


def test_connection_that_breaks_is_tried_again_only_where_twice_is_the_same_as_once(
    connect: Connect, naps: list[float]
) -> None:
    with CannedServer(b"", b"", http("200 OK", b"[]")) as server:
        app = connect(server.url)
        with pytest.raises(NoResponseError):
            app.redeliver(1)
        assert naps == []
        assert list(app.installations()) == []
    assert len(naps) == 1


def test_a_page_of_html_is_a_transient_error_whatever_its_status(connect: Connect) -> None:
    unicorn = b"<html>Unicorn!</html>"
    with CannedServer(http("200 OK", unicorn), http("502 Bad Gateway", unicorn), http("200 OK", b"[]")) as server:
        assert list(connect(server.url).installations()) == []
    assert len(server.requests) == 3


def test_no_call_begins_after_the_deadline_and_none_waits_beyond_it(
    app: GitHubApp, acme: Installation, github: RecordedGitHub, clock: ManualClock, naps: list[float]
) -> None:
    app.deadline.finish_within(10)
    github.state.add_fault(kind="secondary_limit", seconds=20, path="/orgs/*")
    with pytest.raises(RateLimited):
        list(acme.org_runners("acme"))
    assert naps == []
    clock.advance(seconds=21)
    with pytest.raises(OutOfTime, match="the deadline has passed"):
        list(acme.org_runners("acme"))
    assert github.statuses == [403]
    app.deadline.finish_within(10)
    assert list(acme.org_runners("acme")) == []


def test_a_call_that_hangs_ends_at_the_deadline(
    app: GitHubApp, acme: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    send, limits = urllib3.PoolManager.request, []

    def request(pool: urllib3.PoolManager, *arguments: Any, timeout: urllib3.Timeout, **options: Any) -> Any:
        limits.append((timeout.connect_timeout, timeout.read_timeout))
        return send(pool, *arguments, timeout=timeout, **options)

    monkeypatch.setattr(urllib3.PoolManager, "request", request)
    app.deadline.finish_within(2)
    assert list(acme.org_runners("acme")) == []
    assert set(limits) == {(2, 2)}
