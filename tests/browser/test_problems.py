"""What needs attention, results of the reconciler, and what a limited token can't read."""

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from local.demo.generator import PLATFORM, STOREFRONT
from local.demo.steps import Step
from local.demo.workload import Played
from tests.browser.canned_jobs import at, job
from tests.browser.conftest import Open
from tests.browser.page_text import seconds
from tests.browser.tab import Tab

ACME = STOREFRONT.installation_id
PASS = {
    "id": "p1",
    "pass": "cleanup",
    "status": "finished",
    "outcome": "success",
    "requested_by": "token:me",
    "started_at": at(0),
    "finished_at": at(2),
    "text": "",
    "summary": {"orphans_cleaned": 0, "postponed": 0, "errors": 0},
}
BUSY = {
    "runner_id": "i-busy",
    "status": "unknown_job",
    "reason": "unknown_job",
    "detected_at": at(0),
    "created_at": at(0),
    "kind": "ec2",
}


def stuck(number: int, *, seconds_stuck: int) -> dict[str, Any]:
    return {
        "kind": "queued",
        "since": at(0),
        "seconds": seconds_stuck,
        "advice": "Check that a runner was launched.",
        "job": job(number, "queued"),
    }


@pytest.mark.parametrize(
    ("finding", "result"),
    [
        (
            "runner i-1: not cleaned: GitHub reports this runner as busy",
            "Not cleaned: GitHub reports this runner as busy",
        ),
        ("runner i-1: cleaned: its machine was terminated", "Cleaned: its machine was terminated"),
        ("runner i-1: deferred to the next pass: too slow", "Deferred to the next pass: too slow"),
    ],
    ids=["busy", "stopped", "deferred"],
)
def test_the_result_of_a_cleanup_is_in_words(open_tab: Open, finding: str, result: str) -> None:
    tab = open_tab().sign_in().fulfill("admin/reconciliation/p1", PASS | {"findings": [finding]})
    page = tab.show(ACME, "pass", part="p1").page
    expect(page.locator(".findings strong")).to_have_text(result)
    expect(page.locator(".findings small")).to_have_text("i-1")


def test_findings_lead_to_what_they_name(tab: Tab, sent: list[Step], played: Played) -> None:
    """A pass covers all installations, so a job is found from any of them."""
    assert sent
    page = tab.show(ACME, "pass", part=played.passes[0].id).page
    named = page.locator(".findings a")
    texts = named.all_inner_texts()
    assert any(text.startswith("run ") for text in texts)  # of the forgotten approval
    assert "Z" not in "".join(page.locator(".findings time").all_inner_texts())
    other = page.locator(".findings li", has_text=PLATFORM.full_name)
    other.get_by_role("link", name=re.compile("^job")).first.click()
    expect(page.locator(".timeline")).to_be_visible()
    assert f"#/{PLATFORM.installation_id}/job/" in page.url
    page.go_back()
    page.locator(".findings").get_by_role("link", name=re.compile("^run ")).first.click()
    expect(page.locator(".gantt")).to_be_visible()


@pytest.mark.parametrize(
    ("finding", "links"),
    [
        ("job 7 of o/r: queued, and it has no runner; runner requested (request 1)", [("job 7", "lookup?q=job+7")]),
        ("job 7 of installation 5: closed as cancelled", [("job 7 of installation 5", "job/7")]),
        ("run 9 of o/r: deferred to the next pass", [("run 9", "lookup?q=run+9")]),
        ("approval of production for run 9 of o/r: 1 job waiting since 2025-01-15", [("run 9", "lookup?q=run+9")]),
        (
            "runner i-0a1: long-running, job 7 of o/r in progress since 2025-01-15",
            [("i-0a1", "reconciler?runner=i-0a1"), ("job 7", "lookup?q=job+7")],
        ),
        (
            "runner arn:aws:ecs:us-east-1:0:task/c/abc: no_job; suspected",
            [("task abc", "reconciler?runner=arn%3Aaws%3Aecs%3Aus-east-1%3A0%3Atask%2Fc%2Fabc")],
        ),
        ("runner office: long-running", []),
        ("installation 5: deleted, confirmed by GitHub", [("installation 5", "overview")]),
        ("delivery 1f-2 (workflow_job) of 2025-01-15: did not arrive; redelivered", []),
    ],
)
def test_each_kind_of_finding_links_to_what_it_names(
    open_tab: Open, finding: str, links: list[tuple[str, str]]
) -> None:
    tab = open_tab().sign_in().fulfill("admin/reconciliation/p1", PASS | {"pass": "full", "findings": [finding]})
    named = tab.show(ACME, "pass", part="p1").page.locator(".findings a")
    found = [(each.inner_text(), (each.get_attribute("href") or "").split("/", 2)[2]) for each in named.all()]
    assert found == links


def test_a_finding_about_a_runner_leads_to_it_among_the_orphans(open_tab: Open) -> None:
    tab = open_tab().sign_in()
    tab.fulfill_by("admin/orphans", lambda query: {"orphans": [BUSY] if query["status"] == "unknown_job" else []})
    page = tab.show(ACME, "reconciler", runner=BUSY["runner_id"]).page
    expect(page.locator("tr.chosen")).to_contain_text("i-busy")
    expect(page.locator(".notice")).to_have_count(0)
    tab.show(ACME, "reconciler", runner="i-gone")
    expect(page.locator(".notice")).to_have_text("i-gone isn't an orphan now: it has ended, or it has a job.")


def test_a_runner_that_works_on_an_unknown_job_is_shown_as_such(tab: Tab, played: Played) -> None:
    page = tab.show(ACME, "reconciler").page
    row = page.locator("tr", has_text=played.machines.busy)
    expect(row).to_contain_text("busy with a job that the ledger doesn't have")
    expect(row.locator(".badge")).to_have_text("Unknown job")
    expect(row).to_contain_text("last known job")
    assert row.get_by_role("button").count() == 0
    panel = page.locator(".panel", has=page.get_by_role("heading", name="Orphans"))
    expect(panel).to_contain_text("check that Runledger receives the webhooks")
    assert "No orphans" not in panel.inner_text()
    page.set_viewport_size({"width": 390, "height": 844})
    expect(row.locator(".narrow")).to_be_visible()  # the column with the reason isn't
    page.set_viewport_size({"width": 1280, "height": 800})
    row.get_by_role("link").click()
    expect(page.locator(".timeline")).to_be_visible()


def test_counters_of_zero_are_hidden(open_tab: Open) -> None:
    summary = {"runs_asked": 3, "orphans_cleaned": 0, "errors": 0}
    tab = open_tab().sign_in()
    tab.fulfill("admin/reconciliation/p1", PASS | {"pass": "full", "findings": [], "summary": summary})
    details = tab.show(ACME, "pass", part="p1").page.locator("dt")
    assert details.all_inner_texts() == ["Requested by", "Started", "Finished", "Duration", "Runs checked"]


def test_stuck_for_is_what_the_api_measures_and_a_list_that_is_cut_off_is_marked(open_tab: Open) -> None:
    tab = open_tab(alone=True)
    tab.page.clock.install()
    many = [stuck(each, seconds_stuck=7200) for each in range(1, 21)]
    tab.sign_in().fulfill(f"installations/{ACME}/stuck", {"items": many, "next_cursor": None, "truncated": True})
    page = tab.show(ACME, "overview", range="24h").page
    shown = page.locator(".attention-age", has_text="stuck for").first
    before = seconds(shown.inner_text().removeprefix("stuck for "))
    assert 7200 <= before < 7260
    page.clock.run_for(61_000)
    expect(shown).to_have_text("stuck for 2 h 1 m")
    attention = page.locator(".panel", has_text="Needs attention")
    expect(attention.locator(".notice")).to_contain_text("Only the oldest are listed")
    expect(attention).to_contain_text("and at least")


def test_a_limited_reader_gets_an_explanation_instead_of_an_error(open_tab: Open) -> None:
    reader = {"id": "token:reader", "name": "reader", "role": "reader", "installations": [ACME]}
    refused = {"title": "Forbidden", "status": 403, "detail": "reader is limited to some installations"}
    tab = open_tab().fulfill("v1/me", reader)
    for path in ("admin/reconciliation", "admin/dead-letters"):
        tab.fulfill(path, refused, status=403)
    page = tab.sign_in().show(ACME, "reconciler").page
    for title in ("Passes", "Dead-letter queues"):
        panel = page.locator(".panel", has=page.get_by_role("heading", name=title))
        expect(panel).to_contain_text("your token is limited to some of them")
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(page.get_by_role("button", name="Try again")).to_have_count(0)


def test_pools_show_unknown_cost_as_a_dash(tab: Tab) -> None:
    pool = {"pool_name": "office", "jobs": 3, "runners_active": 1, "busy": 1, "seconds_used": 7200, "utilisation": 1}
    unknown = {"usage_in_dollars": None, "unpriced_seconds": 7200, "spot_share": None}
    tab.fulfill("installations/1/pools", {"items": [pool | unknown], "next_cursor": None, "truncated": False})
    page = tab.show(1, "pools").page
    assert page.locator("th", has_text="Spot").all_inner_texts() == ["Spot share"]
    expect(page.locator("tbody td").last).to_have_text("\N{EN DASH}2 h unpriced")
