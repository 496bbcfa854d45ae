"""The list of jobs: the API evaluates its filters, and it covers the same jobs as the number that leads to it."""

import re
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from playwright.sync_api import expect

from local.demo.generator import PAYMENTS, STOREFRONT
from tests.browser.canned_jobs import job
from tests.browser.conftest import Open
from tests.browser.tab import Tab

ACME = STOREFRONT.installation_id
COUNTS = {"queued": 0, "waiting": 0, "scheduled": 0, "in_progress": 0, "completed_24h": 7}


def query_sent(tab: Tab) -> dict[str, str]:
    """The query of the last list that was loaded."""
    lists = [response.url for response in tab.responses if urlsplit(response.url).path.endswith("/jobs")]
    return {name: value for name, value in parse_qsl(urlsplit(lists[-1]).query) if name != "limit"}


@pytest.mark.parametrize(
    ("chosen", "sent"),
    [
        ({}, {"status": "in_progress"}),
        ({"repo": "o/r"}, {"repo": "o/r"}),
        ({"repo": "o/r", "status": "queued"}, {"repo": "o/r", "status": "queued"}),
        ({"run": 7, "attempt": 2, "status": "queued"}, {"run_id": "7", "run_attempt": "2", "status": "queued"}),
        ({"conclusion": "failure"}, {"status": "completed", "conclusion": "failure"}),
        (
            {"repo": "o/r", "conclusion": "failure", "range_of": "completed", "since": "7d"},
            {"repo": "o/r", "conclusion": "failure", "range_of": "completed", "since": "7d"},
        ),
        ({"run": 7, "range_of": "completed", "since": "1h"}, {"run_id": "7", "since": "1h"}),
    ],
    ids=["none", "repository", "and status", "run and status", "result", "completion", "completion in a run"],
)
def test_every_filter_is_sent_to_the_api(open_tab: Open, chosen: dict[str, Any], sent: dict[str, str]) -> None:
    tab = open_tab().sign_in()
    tab.fulfill("installations/1/counts", COUNTS)
    tab.fulfill("installations/1/jobs", {"items": [job(1, "queued")], "next_cursor": None})
    page = tab.show(1, "jobs", **chosen).page
    assert query_sent(tab) == sent
    # The page filters nothing itself, and promises no other pages.
    expect(page.locator("tbody tr")).to_have_count(1)
    assert page.locator(".pages").inner_text() == "1 job"


def test_filtering_by_result_lists_completed_jobs(tab: Tab) -> None:
    page = tab.show(ACME, "jobs").page
    page.get_by_label("Result").select_option("failure")
    tab.settled()
    assert query_sent(tab) == {"status": "completed", "conclusion": "failure"}
    assert set(page.locator("tbody .badge").all_inner_texts()) == {"Failure"}
    page.get_by_role("link", name="In progress").click()
    tab.settled()
    assert query_sent(tab) == {"status": "in_progress"}


def test_the_list_behind_the_completed_jobs_of_24_hours_has_as_many_as_the_number(tab: Tab) -> None:
    page = tab.show(ACME, "overview").page
    completed = page.locator(".tiles.now .tile", has_text="Completed")
    number = int(completed.locator(".tile-value").inner_text())
    completed.click()
    tab.settled()
    assert query_sent(tab) == {"status": "completed", "range_of": "completed", "since": "24h"}
    expect(page.locator("tbody tr")).to_have_count(number)
    expect(page.get_by_role("link", name=re.compile("^Completed"))).to_contain_text(f"{number} in 24 h")
    assert page.locator(".tag", has_text="carried over").count() == 0


def test_a_page_without_matches_is_skipped_and_no_page_is_promised_that_does_not_exist(open_tab: Open) -> None:
    pages = {"": ([], "a"), "a": ([], "b"), "b": ([job(1)], None)}

    def page_of(query: dict[str, str]) -> dict[str, Any]:
        items, following = pages[query.get("cursor", "")]
        return {"items": items, "next_cursor": following}

    tab = open_tab().sign_in().fulfill_by("installations/1/jobs", page_of)
    page = tab.show(1, "jobs", repo="o/r", conclusion="failure").page
    expect(page.locator("tbody tr")).to_have_count(1)
    expect(page.get_by_role("link", name="Older")).to_have_count(0)


def test_a_carried_over_job_is_labelled_in_the_list(tab: Tab) -> None:
    page = tab.show(ACME, "jobs", repo=PAYMENTS.full_name).page
    expect(page.locator("tbody tr", has_text="carried over")).to_have_count(1)
