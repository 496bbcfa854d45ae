"""Every number of the statistics is that of the API, in the words of docs/definitions.md."""

import json
from datetime import datetime, timedelta
from typing import Any

import pytest
from playwright.sync_api import expect

from local.demo.generator import PAYMENTS, STOREFRONT
from local.demo.steps import Step
from tests.browser.conftest import Open
from tests.browser.page_text import NOTHING
from tests.browser.statistics_text import expected, shown

ACME = STOREFRONT.installation_id
INSTALLATION = 1
NOON = datetime.fromisoformat("2025-03-01T12:00:00+00:00")
PERCENTILES = {"p50": 75.4, "p90": 163.2, "p99": 86_460.0, "max": 90_000.0, "count": 1100}


def point(start: datetime, **values: Any) -> dict[str, Any]:
    nothing = dict.fromkeys(("queue_p50", "queue_p90", "duration_p50", "duration_p90", "usage_in_dollars"))
    counts = {"jobs": 0, "completed": 0, "succeeded": 0, "failed": 0, "unpriced_seconds": 0}
    return {"start": f"{start:%Y-%m-%dT%H:%M:%S}.000Z", **nothing, **counts, **values}


def month(**values: Any) -> dict[str, Any]:
    first = NOON - timedelta(hours=12)
    busy = {"completed": 1300, "succeeded": 1100, "failed": 100, "queue_p50": 0.4, "queue_p90": 3.5}
    return {
        "since": "2025-02-01T12:00:00.000Z",
        "until": "2025-03-01T12:00:00.000Z",
        "jobs": 1320,
        "by_status": {"completed": 1300, "queued": 20},
        "by_conclusion": {"success": 1100, "failure": 90, "timed_out": 10, "cancelled": 100},
        "succeeded": 1100,
        "failed": 100,
        "success_rate": 1100 / 1200,
        "queue_seconds": PERCENTILES,
        "duration_seconds": PERCENTILES | {"p50": 7322.0},
        "usage_in_seconds": 111_600,
        "usage_in_dollars": 1234.5,
        "unpriced_seconds": 3700,
        "spot": {"share": 0.625, "savings_in_dollars": -0.0213},
        "interruptions": 12,
        "series": [
            point(first - timedelta(days=1)),
            point(first, **busy, duration_p50=59.6, duration_p90=3600, usage_in_dollars=0.09, unpriced_seconds=90),
        ],
        "slowest": [
            {"repo_full_name": f"o/r{each}", "job_name": "build", "jobs": each, "p90_seconds": 90.4}
            for each in range(1, 9)
        ],
        "costliest": [
            {
                "repo_full_name": "o/one",
                "job_name": "build",
                "workflow_name": "CI",
                "jobs": 7,
                "usage_in_dollars": 12.345,
            }
        ],
        "truncated": False,
        **values,
    }


UNKNOWN_COST: dict[str, Any] = {"usage_in_dollars": None, "unpriced_seconds": 111_600, "costliest": []}
NO_MACHINE = {"spot": {"share": None, "savings_in_dollars": None}, "success_rate": None, "succeeded": 0, "failed": 0}


@pytest.mark.parametrize("values", [{}, UNKNOWN_COST, NO_MACHINE], ids=["month", "unknown cost", "no machine"])
def test_every_number_of_a_month_is_that_of_the_api(open_tab: Open, values: dict[str, Any]) -> None:
    tab = open_tab(locale="en-GB").sign_in()
    tab.fulfill(f"installations/{INSTALLATION}/statistics", month(**values))
    tab.show(INSTALLATION, "repository", repo="o/one", range="30d")
    assert shown(tab) == expected(month(**values), with_repository=False)


@pytest.mark.parametrize("since", ["24h", "7d"])
@pytest.mark.parametrize("repo", [None, PAYMENTS.full_name], ids=["installation", "repository"])
def test_every_number_of_the_demo_is_that_of_the_api(
    open_tab: Open, sent: list[Step], since: str, repo: str | None
) -> None:
    assert sent
    tab = open_tab(locale="en-GB").sign_in().settled()
    with tab.page.expect_response(lambda response: "/statistics" in response.url and since in response.url) as response:
        if repo:
            tab.show(ACME, "repository", repo=repo, range=since)
        else:
            tab.show(ACME, "overview", range=since)
    found = json.loads(response.value.text())
    assert found["jobs"] > 5
    assert shown(tab) == expected(found, with_repository=repo is None)


def test_unknown_cost_is_a_dash_with_the_unpriced_time_and_never_0_dollars(open_tab: Open) -> None:
    tab = open_tab().sign_in().fulfill(f"installations/{INSTALLATION}/statistics", month(**UNKNOWN_COST))
    spend = tab.show(INSTALLATION, "repository", repo="o/one", range="30d").page.locator(".tile", has_text="Spend")
    assert spend.locator("span").all_inner_texts() == ["Spend", NOTHING, "1 d 7 h of machine time, 1 d 7 h unpriced"]


def test_green_is_success_and_what_neither_succeeded_nor_failed_is_neutral(open_tab: Open) -> None:
    tab = open_tab().sign_in().fulfill(f"installations/{INSTALLATION}/statistics", month())
    chart = tab.show(INSTALLATION, "repository", repo="o/one", range="30d").page.get_by_role(
        "group", name="Completed jobs per day"
    )
    assert chart.locator(".legend").inner_text().split() == ["succeeded", "failed", "other"]
    heights = {
        kind: float(chart.locator(f".fill-{kind}").get_attribute("height") or 0)
        for kind in ("success", "failure", "other")
    }
    assert heights["success"] == pytest.approx(11 * heights["failure"], rel=0.02)
    assert heights["other"] == pytest.approx(heights["failure"], rel=0.02)


@pytest.mark.parametrize("zone", ["America/Los_Angeles", "Asia/Tokyo", "UTC"])
def test_days_are_those_of_utc_in_every_time_zone(open_tab: Open, zone: str) -> None:
    tab = open_tab(timezone_id=zone, locale="en-GB").sign_in()
    tab.fulfill(f"installations/{INSTALLATION}/statistics", month())
    page = tab.show(INSTALLATION, "repository", repo="o/one", range="30d").page
    chart = page.get_by_role("group", name="Queue time")
    expect(chart.locator(".chart-title")).to_contain_text("UTC")
    assert chart.locator("text.axis").all_text_contents()[-2:] == ["28 Feb", "1 Mar"]
    chart.focus()
    page.keyboard.press("ArrowLeft")
    expect(chart.locator(".reading strong")).to_have_text("1 Mar UTC")


def test_the_time_zone_of_single_times_is_named(open_tab: Open) -> None:
    tab = open_tab(timezone_id="Asia/Tokyo").sign_in()
    expect(tab.settled().page.locator("main footer.zone")).to_have_text(
        "Times are in Asia/Tokyo (GMT+9). Charts show hours and days in UTC."
    )
