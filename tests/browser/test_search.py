"""A search leads somewhere, whatever is searched for."""

import re

import pytest
from playwright.sync_api import expect

from local.demo.generator import PAYMENTS, PLATFORM, STOREFRONT
from local.demo.payloads.entities import Run
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
    "text",
    ["1", "unit tests", "https://github.com/acme/payments/pull/7", "https://github.com/o/r/actions/runs/1"],
    ids=["unknown id", "words", "another page", "unknown run"],
)
def test_a_search_without_a_result_explains_what_can_be_found(tab: Tab, text: str) -> None:
    search(tab, text)
    main = tab.page.locator("main")
    expect(main).to_contain_text("Nothing found")
    expect(main).to_contain_text(re.compile("id of a job or run.*URL.*repository"))
    main.get_by_role("link", name="View jobs").click()
    expect(tab.page.get_by_role("heading", level=1)).to_have_text("Jobs")
