"""What is shown when there is nothing to show."""

import pytest
from playwright.sync_api import Route, expect

from local.demo.generator import LEGACY, STOREFRONT
from local.demo.steps import Step
from tests.browser.conftest import Open
from tests.browser.tab import Tab

ACME = STOREFRONT.installation_id
LIVE_MS = 15_000  # after which the counts are loaded again


def test_a_failed_refresh_is_shown_with_the_age_of_the_data(open_tab: Open, sent: list[Step]) -> None:
    assert sent
    tab = open_tab(alone=True)
    tab.page.clock.install()
    page = tab.sign_in().show(ACME, "overview").page
    before = page.locator(".tiles.now").inner_text()
    page.route("**/counts*", lambda route: route.fulfill(status=503, json={"title": "Unavailable", "detail": "later"}))
    page.clock.run_for(20_000)
    expect(page.get_by_role("status")).to_contain_text("Not refreshed since")
    expect(page.get_by_role("status")).to_contain_text("later")
    assert page.locator(".tiles.now").inner_text() == before
    page.unroute("**/counts*")
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("status")).to_contain_text("Updated")


def _keep(route: Route, routes: list[Route]) -> None:
    """Playwright takes functions only, and not `routes.append`."""
    routes.append(route)


def test_loads_that_overlap_leave_one_timer(open_tab: Open, sent: list[Step]) -> None:
    """A tab that is hidden and shown while it loads must not send more requests from then on."""
    assert sent
    tab = open_tab(alone=True)
    tab.page.clock.install()
    page = tab.sign_in().show(ACME, "overview").page
    held: list[Route] = []
    page.route("**/counts*", lambda route: _keep(route, held))
    for _ in range(3):
        with page.expect_request("**/counts*"):
            page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    for route in held:
        with page.expect_response("**/counts*"):
            route.continue_()
    tab.settled()
    routed: list[Route] = []
    page.unroute("**/counts*")
    page.route("**/counts*", lambda route: _keep(route, routed))
    page.clock.run_for(LIVE_MS)
    page.wait_for_function("() => true")
    assert len(routed) == 1


def test_a_reloaded_page_shows_that_it_loads(open_tab: Open) -> None:
    tab = open_tab().sign_in()
    held: list[Route] = []
    tab.page.route("**/v1/me", lambda route: _keep(route, held))
    tab.page.reload()
    expect(tab.page.get_by_role("heading", name="Runledger")).to_be_visible()
    expect(tab.page.locator("main")).to_contain_text("Loading")
    assert tab.problems() == []
    held[0].continue_()
    tab.settled()


def test_one_part_that_fails_leaves_the_others_alone(tab: Tab) -> None:
    def refuse(route: Route) -> None:
        route.fulfill(status=503, json={"title": "Unavailable", "status": 503, "detail": "try again later"})

    tab.page.route("**/stuck", refuse)
    page = tab.show(ACME, "overview", range="7d").page
    expect(page.get_by_role("alert")).to_contain_text("try again later")
    expect(page.locator(".tiles.now .tile")).to_have_count(5)
    page.unroute("**/stuck")
    page.get_by_role("alert").get_by_role("button", name="Try again").click()
    expect(page.get_by_role("alert")).to_have_count(0)


@pytest.mark.parametrize(
    ("view", "text"),
    [
        ("overview", "No jobs in this range"),
        ("jobs", "No jobs found"),
        ("repositories", "No repositories in this range"),
        ("pools", "No pools in this range"),
    ],
)
def test_an_empty_view_explains_that_it_is_empty(tab: Tab, view: str, text: str) -> None:
    expect(tab.show(LEGACY.installation_id, view).page.locator("main")).to_contain_text(text)


def test_a_missing_item_is_reported_as_missing(tab: Tab) -> None:
    expect(tab.show(ACME, "job", part=1).page.get_by_role("alert")).to_contain_text("Job 1 was not found")
    expect(tab.show(ACME, "nowhere").page.locator("main")).to_contain_text("Page not found")
