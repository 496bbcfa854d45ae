"""An Enterprise Server has its API below a prefix, and counts calls only if its owner wants it to."""

import pytest
from runledger_github.installation import Installation

from tests.github.canned_server import CannedServer, http
from tests.github.conftest import Connect
from tests.github.recorded_github import RecordedGitHub

RUNNERS = "GET /api/v3/orgs/acme/actions/runners?per_page=100"


@pytest.fixture(params=["/api/v3", "/api/v3/"])
def enterprise(connect: Connect, github: RecordedGitHub, request: pytest.FixtureRequest) -> Installation:
    return connect(f"{github.url}{request.param}").installation(7)


def test_calls_and_pages_stay_below_the_prefix(enterprise: Installation, github: RecordedGitHub) -> None:
    for number in range(1, 102):
        github.state.put("runners", number, scope="acme", name=f"i-{number}")
    assert len(list(enterprise.org_runners("acme"))) == 101
    assert github.calls == [RUNNERS, f"{RUNNERS}&page=2"]
    assert github.requests[0].target == "/api/v3/app/installations/7/access_tokens"


def test_server_that_does_not_count_has_no_budget(connect: Connect) -> None:
    token = http("201 Created", b'{"token": "ghs_1", "expires_at": "2025-01-15T11:00:00Z"}')
    with CannedServer(token, http("200 OK", b"[]")) as server:
        acme = connect(server.url).installation(7)
        assert list(acme.deployment_statuses("acme/web", 1)) == []
    assert acme.budget is None
