"""The dashboard works with a keyboard, a screen reader, a dark theme and a phone."""

from typing import Any

import pytest
from playwright.sync_api import expect

from local.demo.generator import STOREFRONT
from local.demo.payloads.subjects import Job
from local.demo.steps import Step, bus_events
from tests.browser.conftest import Open
from tests.browser.tab import PHONE

ACME = STOREFRONT.installation_id
VIEWS = ("overview", "jobs", "repositories", "pools", "reconciler")
APPEARANCES: dict[str, dict[str, Any]] = {"light": {}, "dark": {"color_scheme": "dark"}, "phone": PHONE}


@pytest.fixture(scope="module")
def interrupted(sent: list[Step]) -> Job:
    """With the longest story to tell."""
    (job,) = {each.subject for each in bus_events(sent) if each.detail.get("stopCode") == "SpotInterruption"}
    return job


@pytest.mark.parametrize("appearance", APPEARANCES)
def test_axe_finds_nothing_serious_in_any_view(open_tab: Open, interrupted: Job, appearance: str) -> None:
    tab = open_tab(**APPEARANCES[appearance])
    tab.page.goto(tab.home)
    tab.page.get_by_label("Access token").wait_for()
    assert tab.serious_problems() == []
    tab.sign_in()
    for view in VIEWS:
        assert (view, tab.show(ACME, view).serious_problems()) == (view, [])
        assert (view, tab.overflow() <= 0) == (view, True)
    assert tab.show(ACME, "job", part=interrupted.id).serious_problems() == []
    assert tab.show(ACME, "run", part=interrupted.run.id).serious_problems() == []


def test_no_element_has_a_role_that_it_may_not_have(open_tab: Open, interrupted: Job) -> None:
    tab = open_tab().sign_in()
    for view, part in (("overview", ""), ("jobs", ""), ("pools", ""), ("run", interrupted.run.id)):
        found = tab.show(ACME, view, part=part).violations()
        assert [each["nodes"][0]["html"] for each in found if each["id"] == "aria-allowed-role"] == []


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
