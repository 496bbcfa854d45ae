"""A search leads somewhere, whatever is searched for."""

import re

import pytest
from playwright.sync_api import expect

from local.demo.generator import PAYMENTS, PLATFORM, STOREFRONT
from local.demo.payloads.entities import Run
from local.demo.releases import PACKAGE
from local.demo.scenarios.releases import UI
from local.demo.steps import Step, deliveries
from tests.browser.tab import Tab

ACME = STOREFRONT.installation_id


@pytest.fixture(scope="module")
def run(sent: list[Step]) -> Run:
    return next(each.subject for each in deliveries(sent) if isinstance(each.subject, Run))


def search(tab: Tab, text: str) -> None:
    tab.page.get_by_role("searchbox").fill(text)
    tab.page.keyboard.press("Enter")


def test_a_run_is_found_by_its_id(tab: Tab, run: Run) -> None:
    search(tab, f"#{run.id}")
    expect(tab.page.get_by_role("heading", level=1)).to_have_text(run.workflow_name)


@pytest.mark.parametrize("text", ["acme/payments", "https://github.com/acme/payments", "ACME/Payments "])
def test_a_repository_is_found_by_its_name_or_address(tab: Tab, text: str) -> None:
    search(tab, text)
    expect(tab.page.get_by_role("heading", level=1)).to_have_text(PAYMENTS.full_name)


def test_part_of_a_name_lists_the_repositories_of_all_installations(tab: Tab) -> None:
    search(tab, "pla")
    tab.page.get_by_role("link", name=PLATFORM.full_name).click()
    expect(tab.page.get_by_role("heading", level=1)).to_have_text(PLATFORM.full_name)


@pytest.mark.parametrize(
    ("text", "title"),
    [(UI.full_name, UI.full_name), (PACKAGE, PACKAGE)],
    ids=["repository", "package"],
)
def test_what_has_no_jobs_but_releases_is_found(tab: Tab, text: str, title: str) -> None:
    search(tab, text)
    expect(tab.page.get_by_role("heading", level=1)).to_contain_text(title)
    expect(tab.settled().page.get_by_role("alert")).to_have_count(0)


def test_part_of_a_name_lists_repositories_and_packages(tab: Tab) -> None:
    search(tab, UI.full_name[:-1])
    main = tab.settled().page.locator("main")
    assert main.get_by_role("heading", level=2).all_inner_texts() == ["Repositories", "Packages"]
    expect(main.get_by_role("link", name=PACKAGE, exact=True)).to_be_visible()


def test_without_releases_a_search_requests_none(tab: Tab) -> None:
    tab.page.route("**/v1/me", lambda route: route.fulfill(json=route.fetch().json() | {"releases": False}))
    tab.page.reload()
    tab.settled()
    tab.responses.clear()
    search(tab, "zzz")
    expect(tab.page.locator("main")).to_contain_text("No job, run or repository matches zzz.")
    assert not [each.url for each in tab.responses if re.search("/(heads|environments|packages)", each.url)]


def test_all_pages_of_a_list_are_searched(tab: Tab) -> None:
    def page(query: dict[str, str]) -> dict[str, object]:
        names, cursor = (["@acme/last"], None) if "cursor" in query else (["@acme/first"], "next")
        return {"items": [{"name": name} for name in names], "next_cursor": cursor}

    tab.fulfill_by(f"installations/{ACME}/packages", page)
    search(tab, "@acme/la")
    expect(tab.page.get_by_role("link", name="@acme/last")).to_be_visible()


def test_a_list_that_fails_hides_no_repository_and_is_not_taken_for_empty(tab: Tab) -> None:
    tab.fulfill(f"installations/{ACME}/heads", {"message": "Service Unavailable"}, status=503)
    search(tab, PAYMENTS.full_name)
    expect(tab.page.get_by_role("heading", level=1)).to_have_text(PAYMENTS.full_name)
    search(tab, "zzz")
    expect(tab.page.locator("main")).to_contain_text("Service Unavailable")
    expect(tab.page.locator("main")).not_to_contain_text("Nothing found")


@pytest.mark.parametrize(
    "text",
    ["1", "unit tests", "https://github.com/acme/payments/pull/7", "https://github.com/o/r/actions/runs/1", "i-0abc"],
    ids=["unknown id", "words", "another page", "unknown run", "instance"],
)
def test_a_search_without_a_result_explains_what_can_be_found(tab: Tab, text: str) -> None:
    search(tab, text)
    main = tab.page.locator("main")
    expect(main).to_contain_text("Nothing found")
    expect(main).to_contain_text(f"No job, run, repository or package matches {text}.")
    expect(main).to_contain_text(re.compile("id of a job or run.*URL.*repository"))
    main.get_by_role("link", name="View jobs").click()
    expect(tab.page.get_by_role("heading", level=1)).to_have_text("Jobs")
