"""Long lists come page by page, as GitHub's Link header leads."""

import itertools

import pytest
from runledger_github.app import GitHubApp
from runledger_github.calls import Response
from runledger_github.installation import Installation

from tests.github.canned_server import CannedServer, http
from tests.github.conftest import Connect
from tests.github.recorded_github import RecordedGitHub

RUNNERS = "GET /orgs/acme/actions/runners?per_page=100"


@pytest.fixture
def many_runners(github: RecordedGitHub) -> None:
    for number in range(1, 251):
        github.state.put("runners", number, scope="acme", name=f"i-{number}")


@pytest.fixture
def many_deliveries(github: RecordedGitHub) -> None:
    """None of them arrived, so no receiver is needed."""
    github.state.configure(webhook_url="http://127.0.0.1:9/")
    github.state.add_fault(kind="lost_delivery", times=None)
    for _ in range(205):
        github.courier.send("workflow_job", {"action": "queued"})


@pytest.mark.usefixtures("many_runners")
def test_all_pages_are_read(acme: Installation, github: RecordedGitHub) -> None:
    assert [runner["id"] for runner in acme.org_runners("acme")] == list(range(1, 251))
    assert github.calls == [RUNNERS, f"{RUNNERS}&page=2", f"{RUNNERS}&page=3"]


@pytest.mark.usefixtures("many_runners")
def test_page_is_requested_when_it_is_needed(acme: Installation, github: RecordedGitHub) -> None:
    assert len(list(itertools.islice(acme.org_runners("acme"), 100))) == 100
    assert github.calls == [RUNNERS]


@pytest.mark.usefixtures("many_runners")
def test_an_error_between_pages_is_retried(acme: Installation, github: RecordedGitHub) -> None:
    runners = acme.org_runners("acme")
    next(runners)
    github.state.add_fault(kind="error", path="/orgs/*")
    assert len(list(runners)) == 249
    assert github.statuses == [200, 502, 200, 200]


@pytest.mark.usefixtures("many_deliveries")
def test_deliveries_are_read_newest_first(app: GitHubApp) -> None:
    pages = list(app.hook_deliveries())
    ids = [delivery["id"] for page in pages for delivery in page.deliveries]
    assert [len(page.deliveries) for page in pages] == [100, 100, 5]
    assert ids == sorted(set(ids), reverse=True)
    assert pages[-1].next_cursor is None


@pytest.mark.usefixtures("many_deliveries")
def test_deliveries_are_read_on_from_a_cursor(app: GitHubApp) -> None:
    first, second, third = app.hook_deliveries()
    assert list(app.hook_deliveries(first.next_cursor)) == [second, third]


def test_token_goes_nowhere_but_to_the_address_that_was_configured(connect: Connect) -> None:
    with CannedServer() as elsewhere, CannedServer() as server:
        link = f'Link: <{elsewhere.url}/steal?page=2>; rel="next", <{elsewhere.url}/steal?page=9>; rel="last"'
        server.responses = [http("200 OK", b"[{}]", link), http("200 OK", b"[{}]")]
        assert len(list(connect(server.url).installations())) == 2
    assert elsewhere.requests == []
    assert server.requests[1].startswith(b"GET /app/installations?page=2 ")


@pytest.mark.parametrize(
    ("link", "query"),
    [
        ('<https://x/a?page=3>; rel="next"', {"page": "3"}),
        ('<https://x/a?page=1>; rel="prev", <https://x/a?page=3>; rel="next"', {"page": "3"}),
        ('<https://x/a?per_page=100&cursor=v1_5>; rel="next"', {"per_page": "100", "cursor": "v1_5"}),
        ('<https://x/a?page=1>; rel="prev", <https://x/a?page=1>; rel="first"', None),
        ("", None),
    ],
)
def test_the_next_page_is_read_from_the_link_header(link: str, query: dict[str, str] | None) -> None:
    assert Response(status=200, headers={"link": link}, body=b"").next_query == query
