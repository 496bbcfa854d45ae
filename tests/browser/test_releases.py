"""Heads, environments and releases in the browser, on what the demo released and rolled back."""

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from local.demo.releases import DEPENDENTS, PACKAGE, VERSION, VERSION_BEFORE
from local.demo.scenarios.releases import CHECKOUT, INSTALLATION, PRODUCTION, RELEASED, UI, WITHDRAWN
from tests.browser.conftest import Open
from tests.browser.tab import PHONE, Tab

VIEWS: dict[str, dict[str, Any]] = {
    "heads": {},
    "branch": {"part": UI.full_name},
    "environments": {},
    "environment": {"part": CHECKOUT.full_name, "environment": PRODUCTION},
    "releases": {},
    "release": {"part": PACKAGE, "version": VERSION},
    "packages": {"part": PACKAGE},
    "build": {"part": PACKAGE, "version": VERSION, "environment": "npm"},
}


def row(page: Page, *texts: str) -> Locator:
    found = page.locator("tbody tr")
    for text in texts:
        found = found.filter(has=page.get_by_text(text, exact=True))
    return found


def test_heads_show_what_is_red_and_lead_to_the_branch_and_its_runs(tab: Tab) -> None:
    page = tab.show(INSTALLATION, "heads").page
    expect(row(page, UI.full_name, "CI").locator(".badge")).to_have_text("Green")
    expect(row(page, UI.full_name, "Docs").locator(".badge")).to_have_text("Red")
    red = int(page.locator(".tile", has_text="Red").locator(".tile-value").inner_text())
    page.locator(".tile", has_text="Red").click()
    page.wait_for_url("**state=red**")
    expect(tab.settled().page.locator("tbody tr")).to_have_count(red)
    row(page, UI.full_name, "Docs").get_by_role("link", name=UI.full_name).click()
    expect(tab.settled().page.get_by_role("heading", level=1)).to_have_text(f"{UI.full_name} · main")
    commits = page.locator("tbody tr")
    expect(commits).to_have_count(5)
    assert [each.locator(".badge").all_inner_texts() for each in commits.all()] == [
        ["Success", "Failure"],
        ["Failure", "Failure"],
        ["Failure", "Success"],
        ["Success", "Success"],
        ["Success", "Success"],
    ]
    commits.first.get_by_role("link", name="Failure").click()
    expect(tab.settled().page.get_by_role("heading", level=1)).to_contain_text("Docs")
    page.go_back()
    expect(tab.settled().page.get_by_role("heading", level=1)).to_have_text(f"{UI.full_name} · main")


def test_environments_show_the_rollback_and_what_can_be_rolled_back_to(tab: Tab) -> None:
    page = tab.show(INSTALLATION, "environments").page
    board = page.get_by_role("table", name="Environments and what is deployed to them")
    production = board.locator("tbody tr", has_text=CHECKOUT.full_name).filter(has_text=PRODUCTION)
    expect(production).to_contain_text(RELEASED)
    expect(production).to_contain_text("rollback")
    pending = board.locator("tbody tr", has_text="acme/admin").filter(has_text=PRODUCTION)
    expect(pending).to_contain_text("Pending")
    production.get_by_role("link", name=CHECKOUT.full_name).click()
    expect(tab.settled().page.get_by_role("heading", level=1)).to_have_text(f"{PRODUCTION} of {CHECKOUT.full_name}")
    targets = page.get_by_role("table", name="Versions that this environment can be rolled back to")
    assert [text.split()[0] for text in targets.locator("tbody tr").all_inner_texts()] == [WITHDRAWN, "2.2.0"]
    history = page.get_by_role("table", name="Deployments", exact=True)
    assert history.locator("tbody .badge").all_inner_texts() == [
        *("Success", "Inactive", "Inactive", "Failure", "Inactive")
    ]


def test_the_delivery_figures_are_those_of_the_demo(tab: Tab) -> None:
    page = tab.show(INSTALLATION, "environment", **VIEWS["environment"], range="7d").page
    figures = page.get_by_role("table", name="DORA figures").locator("tbody tr")
    expect(figures).to_have_count(1)
    expect(figures).to_contain_text("4 h 5 m")
    expect(figures).to_contain_text("40 %")
    expect(figures).to_contain_text("1 failed, 1 rolled back")
    expect(figures).to_contain_text("2 h")


def test_a_release_shows_its_graph_and_the_rebuild_that_failed(tab: Tab) -> None:
    page = tab.show(INSTALLATION, "releases").page
    page.get_by_role("link", name=f"{PACKAGE} {VERSION}", exact=True).click()
    expect(tab.settled().page.locator(".summary .badge")).to_have_text("Failed")
    nodes = {each.locator("title").text_content(): each for each in page.locator(".graph-node").all()}
    assert nodes.keys() == {
        f"{PACKAGE} {VERSION}",
        *(f"{each.name}: {_status(each.conclusion)}" for each in DEPENDENTS),
    }
    left = {name: each.bounding_box()["x"] for name, each in nodes.items() if name}  # type: ignore[index]
    assert left[f"{PACKAGE} {VERSION}"] < left["@acme/forms: succeeded"] < left["@acme/checkout: failed"]
    dependents = page.get_by_role("table", name="Dependents and their rebuilds").locator("tbody tr")
    expect(dependents.filter(has_text="@acme/forms")).to_contain_text("3.1.1")
    expect(dependents.filter(has_text="@acme/checkout")).to_contain_text("The run ended with failure")
    dependents.filter(has_text="@acme/checkout").get_by_role("link", name="View run").click()
    expect(tab.settled().page.get_by_role("heading", level=1)).to_contain_text("Release")


def _status(conclusion: str) -> str:
    return {"success": "succeeded", "failure": "failed"}[conclusion]


def test_builds_show_how_many_variants_are_complete(tab: Tab) -> None:
    page = tab.show(INSTALLATION, "release", **VIEWS["release"]).page
    builds = page.get_by_role("table", name="Builds of this version").locator("tbody tr")
    expect(builds.filter(has_text="npm")).to_contain_text("3 of 3")
    expect(builds.filter(has_text="cdn")).to_contain_text("2 of 3")


def test_a_version_without_dependents_shows_no_graph(tab: Tab) -> None:
    page = tab.show(INSTALLATION, "release", part=PACKAGE, version=VERSION_BEFORE).page
    expect(page.locator(".summary .badge")).to_have_text("Published")
    expect(page.locator(".graph")).to_have_count(0)


@pytest.mark.parametrize("view", VIEWS)
def test_a_link_shows_the_same_in_another_browser(tab: Tab, open_tab: Open, view: str) -> None:
    address = tab.show(INSTALLATION, view, **VIEWS[view]).page.url
    seen = tab.page.locator("tbody tr").count()
    other = open_tab().sign_in()
    other.page.goto(address)
    assert other.settled().page.locator("tbody tr").count() == seen > 0
    assert other.page.title() == tab.page.title()


@pytest.mark.parametrize(
    ("view", "part", "query", "leads_to"),
    [
        ("branch", "acme/unknown", {}, "View all heads"),
        ("environment", "acme/unknown", {"environment": PRODUCTION}, "View all environments"),
        ("release", PACKAGE, {"version": "9.9.9"}, "View all releases"),
        ("release", PACKAGE, {"version": "9.9.9"}, "View the package"),
        ("packages", "unknown", {}, "View all packages"),
        ("build", PACKAGE, {"version": "9.9.9", "environment": "npm"}, "View the package"),
        ("heads", "", {"cursor": "bogus"}, "View the first page"),
        ("environments", "", {"cursor": "bogus"}, "View the first page"),
        ("releases", "", {"cursor": "bogus"}, "View the first page"),
    ],
)
def test_a_missing_item_links_to_its_list(tab: Tab, view: str, part: str, query: dict[str, str], leads_to: str) -> None:
    page = tab.show(INSTALLATION, view, part=part, **query).page
    page.locator("main").get_by_role("link", name=leads_to).click()
    expect(tab.settled().page.get_by_role("alert")).to_have_count(0)
    expect(page.locator("tbody tr").first).to_be_visible()


@pytest.mark.parametrize(
    ("view", "part", "query"),
    [
        *(("branch", "", {}), ("branch", "acme", {}), ("environment", UI.full_name, {}), ("release", PACKAGE, {})),
        *(("packages", "", {}), ("build", PACKAGE, {"version": VERSION})),
    ],
)
def test_an_incomplete_link_is_reported_as_such(tab: Tab, view: str, part: str, query: dict[str, str]) -> None:
    page = tab.show(INSTALLATION, view, part=part, **query).page
    expect(page.locator("main")).to_contain_text("The link is incomplete, or it has a mistake")


@pytest.mark.parametrize(
    ("view", "text"),
    [("heads", "No heads yet"), ("environments", "No environments yet"), ("releases", "No releases yet")],
)
def test_an_empty_view_explains_how_it_fills(tab: Tab, view: str, text: str) -> None:
    nothing: dict[str, Any] = {"items": [], "next_cursor": None}
    for path in ("heads", "environments", "releases", "packages"):
        tab.fulfill(f"installations/1/{path}", nothing)
    tab.fulfill("installations/1/dora", {"items": [], "truncated": False})
    expect(tab.show(1, view).page.locator("main")).to_contain_text(text)
    assert tab.problems() == []


@pytest.mark.parametrize("view", VIEWS)
def test_a_deployment_without_releases_explains_how_to_turn_them_on(tab: Tab, view: str) -> None:
    def without(route: Route) -> None:
        response = route.fetch()
        route.fulfill(response=response, json=response.json() | {"releases": False})

    tab.page.route("**/v1/me", without)
    tab.page.reload()
    page = tab.show(INSTALLATION, view, **VIEWS[view]).page
    expect(page.locator("main")).to_contain_text('"releases": true')
    for name in ("Heads", "Environments", "Releases"):
        expect(page.get_by_role("navigation", name="Views").get_by_role("link", name=name)).to_have_count(0)
    page.get_by_role("link", name="Go to the overview").click()
    expect(tab.settled().page.get_by_role("heading", level=1)).to_have_text("Overview")


def test_another_installation_is_shown_in_the_list_of_the_view(tab: Tab) -> None:
    leads = {"branch": "heads", "environment": "environments", "release": "releases"}
    for view, leads_to in (leads | {"packages": "releases", "build": "releases"}).items():
        page = tab.show(INSTALLATION, view, **VIEWS[view]).page
        page.get_by_label("Installation").select_option(label="globex")
        page.wait_for_url(re.compile(rf"/{leads_to}$"))
        tab.settled()


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_fits_a_phone(open_tab: Open, view: str) -> None:
    tab = open_tab(**PHONE).sign_in().show(INSTALLATION, view, **VIEWS[view])
    assert tab.overflow() <= 0
    bars = tab.page.locator("nav")
    hidden = bars.evaluate_all("bars => bars.map((bar) => [bar.ariaLabel, bar.scrollWidth - bar.clientWidth])")
    assert [label for label, pixels in hidden if pixels > 0] == []
