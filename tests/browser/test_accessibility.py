"""The dashboard works with a keyboard, a screen reader, a dark theme and a phone."""

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from local import ROOT
from local.demo.generator import PAYMENTS, STOREFRONT
from local.demo.payloads.entities import Job
from local.demo.releases import PACKAGE, VERSION
from local.demo.scenarios.releases import CHECKOUT, PRODUCTION, UI
from local.demo.steps import Step, bus_events
from local.demo.workload import Played
from tests.browser.conftest import Open
from tests.browser.tab import PHONE

ACME, NO_INSTALLATION = STOREFRONT.installation_id, 999
VIEWS = ("overview", "jobs", "repositories", "pools", "heads", "environments", "releases", "reconciler")
APPEARANCES: dict[str, dict[str, Any]] = {"light": {}, "dark": {"color_scheme": "dark"}, "phone": PHONE}
ONLY = {"dark": ("wcag141", "wcag143")}  # the dark theme changes nothing but colours


@pytest.fixture(scope="module")
def interrupted(sent: list[Step]) -> Job:
    """The job with the longest history."""
    (job,) = {each.subject for each in bus_events(sent) if each.detail.get("stopCode") == "SpotInterruption"}
    return job


@pytest.mark.parametrize("appearance", APPEARANCES)
def test_axe_finds_no_violation_in_any_view(open_tab: Open, interrupted: Job, played: Played, appearance: str) -> None:
    tab, tags = open_tab(**APPEARANCES[appearance]), ONLY.get(appearance, ())
    tab.page.goto(tab.home)
    tab.page.get_by_label("Access token").wait_for()
    assert tab.problems(*tags) == []
    tab.sign_in()
    pages: list[tuple[int, str, dict[str, Any]]] = [
        *((ACME, view, {}) for view in VIEWS),
        (ACME, "job", {"part": interrupted.id}),
        (ACME, "run", {"part": interrupted.run.id}),
        (ACME, "pass", {"part": played.passes[0].id}),
        (ACME, "repository", {"repo": PAYMENTS.full_name}),
        (ACME, "repository", {"repo": "acme/unknown"}),
        (ACME, "jobs", {"status": "scheduled"}),
        (ACME, "reconciler", {"runner": "i-gone"}),
        (ACME, "lookup", {"q": "pay"}),
        (ACME, "lookup", {"q": "unit tests"}),
        (ACME, "job", {"part": 5}),
        (ACME, "notifications", {}),
        (ACME, "subscription", {"part": "new"}),
        (ACME, "message", {"part": "0" * 32}),
        (ACME, "branch", {"part": UI.full_name}),
        (ACME, "branch", {"part": "acme/unknown"}),
        (ACME, "environment", {"part": CHECKOUT.full_name, "environment": PRODUCTION}),
        (ACME, "release", {"part": PACKAGE, "version": VERSION}),
        (ACME, "packages", {"part": PACKAGE}),
        (ACME, "build", {"part": PACKAGE, "version": VERSION, "environment": "npm"}),
        (ACME, "nowhere", {}),
        (NO_INSTALLATION, "overview", {}),
    ]
    assert {view for _, view, _ in pages} >= set(_views())
    for installation, view, about in pages:
        assert (view, about, tab.show(installation, view, **about).problems(*tags)) == (view, about, [])
        assert (view, about, tab.overflow() <= 0) == (view, about, True)


def _views() -> list[str]:
    """The views of the page, by their names in addresses."""
    (listed,) = re.findall(r"const VIEWS = {(.*?)}", (ROOT / "web" / "src" / "app.js").read_text(), re.DOTALL)
    return re.findall(r"\w+", listed)


def test_axe_finds_no_violation_in_a_dialog(open_tab: Open) -> None:
    tab = open_tab().sign_in().show(ACME, "reconciler")
    tab.page.get_by_role("button", name="Run a quick pass").click()
    tab.page.get_by_role("dialog").wait_for()
    assert tab.problems() == []


@pytest.mark.parametrize("view", VIEWS)
def test_navigation_and_statuses_fit_a_phone_without_scrolling(open_tab: Open, view: str) -> None:
    tab = open_tab(viewport={"width": 375, "height": 812}, is_mobile=True, has_touch=True).sign_in()
    bars = tab.show(ACME, view).page.locator("nav")
    hidden = bars.evaluate_all("bars => bars.map((bar) => [bar.ariaLabel, bar.scrollWidth - bar.clientWidth])")
    assert [label for label, pixels in hidden if pixels > 0] == []
    assert tab.overflow() <= 0


def test_a_job_is_reached_with_the_keyboard_alone(open_tab: Open, interrupted: Job) -> None:
    tab = open_tab().sign_in().show(ACME, "jobs", repo=interrupted.run.repository.full_name)
    page = tab.page
    page.reload()
    tab.settled()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.keyboard.press("Enter")
    link = page.locator(".row-link").first
    for _ in range(30):
        page.keyboard.press("Tab")
        if link.evaluate("node => node === document.activeElement"):
            break
    expect(link).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(".timeline")).to_be_visible()


def test_a_new_view_gets_the_focus_and_going_back_returns_to_where_one_was(open_tab: Open) -> None:
    tab = open_tab(viewport={"width": 1280, "height": 400}).sign_in().show(ACME, "jobs", status="completed")
    page = tab.page
    expect(page.locator("main")).to_be_focused()
    row = page.locator(".row-link").nth(15)
    name = row.get_attribute("id")
    row.focus()
    top = page.evaluate("window.scrollY")
    assert top > 0
    page.keyboard.press("Enter")
    expect(page.locator(".timeline")).to_be_visible()
    expect(page.locator("main")).to_be_focused()
    assert page.evaluate("window.scrollY") == 0
    page.go_back()
    expect(page.locator(f"#{name}")).to_be_focused()
    assert page.evaluate("window.scrollY") == top


def test_a_charts_values_are_read_with_the_arrow_keys(open_tab: Open) -> None:
    page = open_tab().sign_in().show(ACME, "overview").page
    chart = page.get_by_role("group", name="Jobs per hour")
    chart.focus()
    page.keyboard.press("ArrowLeft")
    expect(chart.locator(".reading")).to_contain_text("succeeded")


def test_times_are_the_readers_with_utc_on_hover(open_tab: Open, interrupted: Job) -> None:
    tab = open_tab(timezone_id="Asia/Tokyo", locale="en-GB").sign_in()
    moment = tab.show(ACME, "job", part=interrupted.id).page.locator(".timeline time").first
    utc = interrupted.created_at.strftime("%H:%M:%S")
    assert (moment.get_attribute("title") or "").endswith(f"{utc} UTC")
    assert utc[:2] not in moment.inner_text()[-8:-6]
