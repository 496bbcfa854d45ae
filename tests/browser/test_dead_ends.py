"""Every state shows what is wrong and leads on: unknown ids, other installations, invalid links and expired tokens."""

import re

import pytest
from playwright.sync_api import expect

from local.demo.generator import PLATFORM, STOREFRONT
from local.demo.payloads.entities import Job
from local.demo.steps import Step, deliveries
from tests.browser.conftest import Open
from tests.browser.tab import Tab

ACME, GLOBEX, NONE = STOREFRONT.installation_id, PLATFORM.installation_id, 999
UNAVAILABLE = {"title": "Service Unavailable", "status": 503, "detail": "try again later"}


@pytest.fixture(scope="module")
def elsewhere(sent: list[Step]) -> Job:
    """A job of another installation."""
    jobs = (each.subject for each in deliveries(sent) if isinstance(each.subject, Job))
    return next(job for job in jobs if job.run.repository == PLATFORM)


@pytest.mark.parametrize("view", ["job", "run"])
def test_the_id_of_another_installation_is_found_from_the_message(tab: Tab, elsewhere: Job, view: str) -> None:
    wanted = elsewhere.id if view == "job" else elsewhere.run.id
    page = tab.show(ACME, view, part=wanted).page
    expect(page.get_by_role("alert")).to_contain_text("may belong to another installation")
    page.get_by_role("link", name="Search all installations").click()
    page.wait_for_url(f"**#/{GLOBEX}/{view}/{wanted}")
    expect(tab.settled().page.locator(".panel").first).to_be_visible()


@pytest.mark.parametrize(
    ("view", "part", "query", "texts"),
    [
        ("job", 5, {}, ["Search all installations", "View jobs"]),
        ("run", 5, {}, ["Search all installations", "View jobs"]),
        ("run", 5, {"attempt": 3}, ["View the newest attempt", "Search all installations", "View jobs"]),
        ("pass", "gone", {}, ["View passes"]),
        ("jobs", "", {"status": "bogus"}, ["Clear the filters"]),
        ("jobs", "", {"cursor": "bogus"}, ["Clear the filters"]),
        ("jobs", "", {"repo": "nonsense"}, ["Clear the filters"]),
    ],
    ids=["job", "run", "attempt", "pass", "status", "cursor", "repository"],
)
def test_a_missing_or_invalid_item_links_to_its_list_and_is_not_tried_again(
    tab: Tab, view: str, part: object, query: dict[str, object], texts: list[str]
) -> None:
    alert = tab.show(ACME, view, part=part, **query).page.get_by_role("alert")
    assert alert.get_by_role("link").all_inner_texts() == texts
    assert alert.get_by_role("button").count() == 0
    assert "pattern" not in alert.inner_text()
    alert.get_by_role("link", name=texts[-1]).click()
    expect(tab.settled().page.get_by_role("alert")).to_have_count(0)


@pytest.mark.parametrize(
    ("view", "part", "query"),
    [
        ("job", "", {}),
        ("job", "abc", {}),
        ("run", "", {}),
        ("pass", "", {}),
        ("repository", "", {}),
        ("repository", "", {"repo": "nonsense"}),
        ("lookup", "", {}),
        ("subscription", "", {}),
        ("message", "abc", {}),
        ("nowhere", "", {}),
    ],
)
def test_an_incomplete_link_is_reported_as_such(tab: Tab, view: str, part: object, query: dict[str, object]) -> None:
    page = tab.show(ACME, view, part=part, **query).page
    expect(page.locator("main")).to_contain_text("The link is incomplete, or it has a mistake")
    page.get_by_role("link", name="Go to the overview").click()
    expect(tab.settled().page.get_by_role("heading", level=1)).to_have_text("Overview")


def test_an_unknown_installation_is_reported_once_and_the_navigation_leads_to_a_known_one(
    tab: Tab, elsewhere: Job
) -> None:
    page = tab.show(NONE, "overview").page
    expect(page.locator("main")).to_contain_text("Installation 999 not found")
    expect(page.get_by_role("alert")).to_have_count(0)
    page.get_by_role("link", name="Pools", exact=True).click()
    expect(tab.settled().page.get_by_role("heading", level=1)).to_have_text("Pools")
    tab.show(NONE, "job", part=elsewhere.id)
    page.get_by_role("link", name=f"Search for job {elsewhere.id}").click()
    page.wait_for_url(f"**#/{GLOBEX}/job/{elsewhere.id}")
    tab.show(NONE, "jobs").page.locator("main").get_by_role("link", name="globex").click()
    page.wait_for_url(f"**#/{GLOBEX}/overview")


def test_an_installation_that_is_newer_than_the_page_is_shown(tab: Tab) -> None:
    tab.fulfill("installations/1/pools", {"items": [], "next_cursor": None, "truncated": False})
    page = tab.show(1, "pools").page
    expect(page.locator("main")).to_contain_text("No pools in this range")
    expect(page.get_by_label("Installation")).to_have_value("1")


def test_a_token_that_expires_is_requested_and_the_view_comes_back(open_tab: Open, sent: list[Step]) -> None:
    assert sent
    tab = open_tab().sign_in()
    refused = {"title": "Unauthorized", "status": 401, "detail": "The token has expired"}
    tab.page.route("**/pools*", lambda route: route.fulfill(status=401, json=refused))
    tab.page.goto(f"{tab.home}#/{ACME}/pools?range=7d")
    expect(tab.page.get_by_role("alert")).to_contain_text("This token isn't valid. Sign in again.")
    tab.page.unroute("**/pools*")
    tab.page.get_by_label("Access token").fill(tab.token)
    tab.page.keyboard.press("Enter")
    expect(tab.page.get_by_role("heading", level=1)).to_have_text("Pools")
    expect(tab.page.locator("#choice-7d")).to_have_attribute("aria-current", "true")


def test_a_page_that_cannot_load_the_account_offers_another_try_and_another_token(open_tab: Open) -> None:
    tab = open_tab()
    tab.page.route("**/v1/me", lambda route: route.fulfill(status=503, json=UNAVAILABLE))
    tab.page.goto(tab.home)
    tab.page.get_by_label("Access token").fill(tab.token)
    tab.page.keyboard.press("Enter")
    expect(tab.page.get_by_role("alert")).to_contain_text("try again later")
    assert tab.problems() == []
    tab.page.unroute("**/v1/me")
    tab.page.get_by_role("button", name="Try again").click()
    expect(tab.page.locator("main[data-view]")).to_be_visible()
    tab.page.route("**/v1/me", lambda route: route.fulfill(status=503, json=UNAVAILABLE))
    tab.page.reload()
    tab.page.get_by_role("button", name="Sign out").click()
    expect(tab.page.get_by_label("Access token")).to_be_visible()


@pytest.mark.parametrize(
    ("status", "message", "text"),
    [
        (429, "Too Many Requests", "Too many requests (429)\n\nTry again in a few seconds."),
        (503, "Service Unavailable", "Service Unavailable (503)\n\nTry again in a few seconds."),
    ],
)
def test_an_error_of_api_gateway_is_named(tab: Tab, status: int, message: str, text: str) -> None:
    """Its errors have a message only."""
    tab.page.route("**/pools*", lambda route: route.fulfill(status=status, json={"message": message}))
    alert = tab.show(ACME, "pools").page.get_by_role("alert")
    assert alert.inner_text() == f"{text}\n\nTry again"


@pytest.mark.parametrize(
    ("view", "part", "query", "leads_to"),
    [
        ("overview", "", {"range": "7d"}, "overview?range=7d"),
        ("jobs", "", {"status": "completed", "repo": "acme/payments"}, "jobs?status=completed"),
        ("job", 5, {}, "jobs"),
        ("run", 5, {"attempt": 2}, "jobs"),
        ("lookup", "", {"q": "zzz"}, "jobs"),
        ("repositories", "", {}, "repositories"),
        ("repository", "", {"repo": "acme/payments", "range": "30d"}, "repositories?range=30d"),
        ("pools", "", {"range": "7d"}, "pools?range=7d"),
        ("reconciler", "", {}, "reconciler"),
        ("pass", "gone", {}, "pass/gone"),
        ("notifications", "", {"status": "failed"}, "notifications?status=failed"),
        ("subscription", "new", {}, "notifications"),
        ("message", "0" * 32, {}, "notifications"),
        ("nowhere", "", {}, "overview"),
    ],
)
def test_another_installation_is_shown_in_the_same_view_or_in_its_list(
    tab: Tab, view: str, part: object, query: dict[str, object], leads_to: str
) -> None:
    page = tab.show(ACME, view, part=part, **query).page
    page.get_by_label("Installation").select_option(label="globex")
    page.wait_for_url(re.compile(rf"#/{GLOBEX}/"))
    assert page.url.partition("#")[2] == f"/{GLOBEX}/{leads_to}"
    tab.settled()


def test_an_empty_range_of_a_repository_leads_to_older_jobs(tab: Tab) -> None:
    page = tab.show(ACME, "repository", repo="acme/unknown").page
    page.get_by_role("link", name="Show the last 30 days").click()
    main = tab.settled().page.locator("main")
    assert main.locator(".ways").get_by_role("link").all_inner_texts() == [
        "View jobs of any time",
        "View all repositories",
    ]
    main.get_by_role("link", name="View jobs of any time").click()
    expect(tab.settled().page.locator("main")).to_contain_text("No jobs match these filters")
    page.get_by_role("link", name="Clear the filters").click()
    expect(tab.settled().page.locator("tbody tr").first).to_be_visible()


def test_a_repository_filter_is_checked_before_it_is_sent(tab: Tab) -> None:
    page = tab.show(ACME, "jobs").page
    field = page.get_by_label("Repository", exact=True)
    field.fill("payments")
    page.get_by_role("button", name="Filter").click()
    assert field.evaluate("field => field.validity.patternMismatch")
    assert "repo=" not in page.url


def test_rankings_lead_to_their_repository(tab: Tab) -> None:
    page = tab.show(ACME, "overview", range="7d").page
    slowest = page.locator(".panel", has=page.get_by_role("heading", name="Slowest"))
    link = slowest.get_by_role("link").first
    name = link.inner_text()
    link.click()
    expect(tab.settled().page.get_by_role("heading", level=1)).to_have_text(name)
    expect(page.locator("#choice-7d")).to_have_attribute("aria-current", "true")


def test_the_success_rate_leads_to_the_failures_of_the_same_time(tab: Tab) -> None:
    page = tab.show(ACME, "repository", repo="acme/payments", range="7d").page
    page.get_by_role("link", name="View failures").click()
    tab.settled()
    assert page.url.partition("?")[2].split("&") == [
        *("repo=acme%2Fpayments", "status=completed", "conclusion=failure", "range_of=completed", "since=7d"),
    ]
    assert set(page.locator("tbody .badge").all_inner_texts()) == {"Failure"}
