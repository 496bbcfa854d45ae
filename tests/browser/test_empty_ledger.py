"""The dashboard of a new deployment: every link works, and the first installation is shown when it appears."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Open
from tests.browser.tab import CANNED, PHONE, Tab

LIST = re.compile(r"/v1/installations$")
INSTALLATION = {"installation_id": CANNED, "org_name": "o", "status": "active"}
REFRESH_MS = 15_000


def list_installations(page: Page, *items: dict[str, object]) -> None:
    page.unroute(LIST)
    page.route(LIST, lambda route: route.fulfill(json={"items": list(items)}))


def open_empty(open_tab: Open, address: str = "", options: dict[str, object] | None = None) -> Tab:
    tab = open_tab(alone=True, **(options or {}))
    tab.page.clock.install()
    list_installations(tab.page)
    return tab.sign_in(view=address)


@pytest.mark.parametrize("address", ["", "#/jobs/overview", "#/41000001/job/5"])
def test_an_empty_ledger_has_no_link_that_leads_nowhere(open_tab: Open, address: str) -> None:
    tab = open_empty(open_tab, address)
    page = tab.settled().page
    expect(page.locator("main")).to_contain_text("No jobs yet")
    assert page.get_by_role("searchbox").count() == page.get_by_label("Installation").count() == 0
    assert page.get_by_role("link").all_inner_texts() == ["Skip to content", "Runledger"]
    page.get_by_role("link", name="Runledger").click()
    tab.settled()
    expect(page.locator("main")).to_contain_text("No jobs yet")
    assert page.url.endswith("#/")


@pytest.mark.parametrize("options", [{}, {**PHONE, "color_scheme": "dark"}], ids=["desktop", "phone"])
def test_an_empty_ledger_explains_how_webhooks_reach_it(open_tab: Open, options: dict[str, object]) -> None:
    tab = open_empty(open_tab, options=options)
    main = tab.settled().page.locator("main")
    for text in ("/webhooks/github", "webhook secret", "docs/github-app.md", "Don't change the App of your launcher"):
        expect(main).to_contain_text(text)
    assert tab.problems() == []
    assert tab.overflow() <= 0


@pytest.mark.parametrize(
    ("address", "leads_to"),
    [
        ("", f"#/{CANNED}/overview"),
        ("#/jobs/overview", f"#/{CANNED}/overview"),
        (f"#/{CANNED}/pools?range=7d", f"#/{CANNED}/pools?range=7d"),
    ],
    ids=["home", "a link that named no installation", "a link to the first installation"],
)
def test_the_first_installation_is_shown_when_it_appears(open_tab: Open, address: str, leads_to: str) -> None:
    tab = open_empty(open_tab, address)
    page = tab.settled().page
    expect(page.locator("main")).to_contain_text("This page updates automatically.")
    page.route(re.compile(rf"/v1/installations/{CANNED}/"), lambda route: route.fulfill(json={"items": []}))
    tab.fulfill(f"installations/{CANNED}/pools", {"items": [], "next_cursor": None, "truncated": False})
    list_installations(page, INSTALLATION)
    page.clock.run_for(REFRESH_MS)
    page.wait_for_url(f"**/{leads_to}")
    expect(page.get_by_role("link", name="Jobs", exact=True)).to_have_attribute("href", f"#/{CANNED}/jobs")
    expect(page.locator("main")).not_to_contain_text("No jobs yet")


def test_an_empty_ledger_that_cannot_refresh_shows_the_error(open_tab: Open) -> None:
    tab = open_empty(open_tab)
    page = tab.settled().page
    page.unroute(LIST)
    page.route(LIST, lambda route: route.fulfill(status=503, json={"message": "Service Unavailable"}))
    page.clock.run_for(REFRESH_MS)
    expect(page.get_by_role("status")).to_contain_text("Not refreshed since")
    expect(page.locator("main")).to_contain_text("No jobs yet")
