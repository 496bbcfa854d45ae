"""How much a view takes: counted in requests and bytes, because time depends on the machine."""

import re
import urllib.request
from dataclasses import dataclass

import pytest

from local.aws.outputs import Outputs
from tests.browser.conftest import Open
from tests.browser.ledger_items import fill
from tests.browser.tab import Tab

FEW, MANY = 50, 5000
FEW_IN, MANY_IN = 50_000_050, 50_005_000
FIRST_VIEW_BYTES = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Weight:
    requests: list[str]
    bytes: int


def weigh(tab: Tab) -> Weight:
    """What came over the wire, compressed as it was."""
    sizes = [response.request.sizes() for response in tab.responses]
    paths = [
        re.sub(r"\d{6,}", "…", response.url.removeprefix(tab.home).partition("?")[0]) for response in tab.responses
    ]
    return Weight(
        requests=sorted(paths),
        bytes=sum(size["responseBodySize"] + size["responseHeadersSize"] for size in sizes),
    )


def test_the_first_view_is_less_than_100_kilobytes_and_three_files(open_tab: Open) -> None:
    tab = open_tab(alone=True).sign_in(view="").settled()
    weight = weigh(tab)
    assert weight.bytes < FIRST_VIEW_BYTES
    files = [path for path in weight.requests if not path.startswith(("v1/", "admin/"))]
    assert sorted(re.sub(r"-\w+\.", ".", path) for path in files) == ["", "assets/app.css", "assets/app.js"]


@pytest.fixture(scope="module")
def crowd(outputs: Outputs) -> None:
    fill(outputs, FEW_IN, FEW)
    fill(outputs, MANY_IN, MANY)


@pytest.mark.usefixtures("crowd")
@pytest.mark.parametrize("query", [{"status": "completed"}, {"repo": "many/jobs"}], ids=["by status", "by repository"])
def test_the_first_page_of_5000_jobs_takes_what_the_first_of_50_takes(open_tab: Open, query: dict[str, str]) -> None:
    weights = []
    for installation in (FEW_IN, MANY_IN):
        tab = open_tab().sign_in().settled()
        tab.responses.clear()
        tab.show(installation, "jobs", **query)
        assert tab.page.locator("tbody tr").count() == FEW
        weights.append(weigh(tab))
    few, many = weights
    assert many.requests == few.requests
    # A cursor, and longer numbers.
    assert many.bytes <= few.bytes + 1000


@pytest.mark.usefixtures("crowd")
def test_older_pages_follow_by_cursor_and_the_way_back_is_the_browsers(tab: Tab) -> None:
    page = tab.show(MANY_IN, "jobs", status="completed").page
    first = page.locator(".row-link").first.get_attribute("href")
    page.get_by_role("link", name="Older").click()
    tab.page.wait_for_url("**cursor=**")
    assert tab.settled().page.locator(".row-link").first.get_attribute("href") != first
    page.go_back()
    assert tab.settled().page.locator(".row-link").first.get_attribute("href") == first


def test_assets_are_kept_for_ever_and_the_page_never(outputs: Outputs) -> None:
    with urllib.request.urlopen(f"{outputs.api_url}/") as response:
        page, headers = response.read().decode(), response.headers
    assert headers["Cache-Control"] == "no-cache"
    assert "'unsafe" not in headers["Content-Security-Policy"]
    assert headers["Content-Security-Policy"].startswith("default-src 'none'; script-src 'self'; style-src 'self'")
    names = re.findall(r'(?:href|src)="(assets/[^"]+)"', page)
    assert len(names) == 2
    for name in names:
        with urllib.request.urlopen(f"{outputs.api_url}/{name}") as response:
            assert response.headers["Cache-Control"] == "public, max-age=31536000, immutable"
