"""Every number of the statistics is that of the API, in the words of docs/definitions.md."""

import json
from datetime import datetime, timedelta
from typing import Any

import pytest
from playwright.sync_api import expect

from local.demo.generator import PAYMENTS, STOREFRONT
from local.demo.steps import Step
from tests.browser.conftest import Open
from tests.browser.page_text import NOTHING, dollars, duration, jobs, percent
from tests.browser.tab import Tab

ACME = STOREFRONT.installation_id
INSTALLATION = 1
NOON = datetime.fromisoformat("2025-03-01T12:00:00+00:00")
RANKED = 6
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


def shown(tab: Tab) -> dict[str, Any]:
    """Everything that the view shows about the range."""
    tiles = (
        tab.page.locator(".tiles")
        .last.locator(".tile")
        .evaluate_all("tiles => tiles.map((tile) => [...tile.children].map((each) => each.textContent))")
    )
    tables = tab.page.locator("main table").evaluate_all(
        "tables => tables.map((table) => [table.caption.textContent, "
        "[...table.tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.textContent))])"
    )
    return {"tiles": {label: tuple(rest) for label, *rest in tiles}, "tables": dict(tables)}


def expected(found: dict[str, Any], *, with_repository: bool) -> dict[str, Any]:
    queue, took, spot = found["queue_seconds"], found["duration_seconds"], found["spot"]
    decided = found["succeeded"] + found["failed"]
    completed = sum(found["by_conclusion"].values())
    unknown = f", {duration(found['unpriced_seconds'])} unpriced" if found["unpriced_seconds"] else ""
    tiles = {
        "Success rate": (
            percent(found["success_rate"]),
            f"{found['succeeded']:,} of {decided:,} that succeeded or failed"
            + (" · View failures" if found["failed"] else ""),
        ),
        "Queue p50": (duration(queue["p50"]), f"p90 {duration(queue['p90'])} · {jobs(queue['count'])} that ran"),
        "Duration p50": (duration(took["p50"]), f"p90 {duration(took['p90'])} · {jobs(took['count'])} that ran"),
        "Spend": (
            dollars(found["usage_in_dollars"]),
            f"{duration(found['usage_in_seconds'])} of machine time{unknown}",
        ),
        "Spot savings": (dollars(spot["savings_in_dollars"]), f"spot share {percent(spot['share'])}"),
        "Interruptions": (f"{found['interruptions']:,}", f"of {jobs(completed, 'completed job')}"),
    }
    return {"tiles": tiles, "tables": charts(found["series"]) | rankings(found, with_repository=with_repository)}


def charts(series: list[dict[str, Any]]) -> dict[str, list[list[str]]]:
    first, second = (datetime.fromisoformat(each["start"]) for each in series[:2])
    bucket = "day" if second - first >= timedelta(days=1) else "hour"
    rows: dict[str, list[list[str]]] = {}
    for each in series:
        start = datetime.fromisoformat(each["start"])
        day = f"{start.day} {start:%b}"
        when = f"{day} UTC" if bucket == "day" else f"{day}, {start:%H:%M} UTC"
        unknown = f", {duration(each['unpriced_seconds'])} unpriced" if each["unpriced_seconds"] else ""
        other = each["completed"] - each["succeeded"] - each["failed"]
        for label, values in {
            "Queue time": [duration(each["queue_p50"]), duration(each["queue_p90"])],
            "Job duration": [duration(each["duration_p50"]), duration(each["duration_p90"])],
            f"Completed jobs per {bucket}": [f"{number:,}" for number in (each["succeeded"], each["failed"], other)],
            f"Spend per {bucket}": [f"{dollars(each['usage_in_dollars'])}{unknown}"],
        }.items():
            rows.setdefault(label, []).append([when, *values])
    return rows


def rankings(found: dict[str, Any], *, with_repository: bool) -> dict[str, list[list[str]]]:
    def name(row: dict[str, Any]) -> str:
        repository = row["repo_full_name"] if with_repository else ""
        return f"{row['job_name']}{row.get('workflow_name', NOTHING)}{repository}"

    slowest = [[name(row), f"{row['jobs']:,}", duration(row["p90_seconds"])] for row in found["slowest"][:RANKED]]
    costliest = [[name(row), f"{row['jobs']:,}", dollars(row["usage_in_dollars"])] for row in found["costliest"]]
    both = {"Slowest jobs": slowest, "Most expensive jobs": costliest[:RANKED]}
    return {title: rows for title, rows in both.items() if rows}


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
    with tab.page.expect_response(lambda answer: "/statistics" in answer.url and since in answer.url) as answer:
        if repo:
            tab.show(ACME, "repository", repo=repo, range=since)
        else:
            tab.show(ACME, "overview", range=since)
    found = json.loads(answer.value.text())
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
