"""The page of a job: approvals, carried-over jobs, the order of its history, and durations that tick."""

import re
from datetime import timedelta
from typing import Any

from playwright.sync_api import Locator, Page, expect

from local.demo.generator import STOREFRONT
from local.demo.payloads.entities import Job
from local.demo.steps import Step, deliveries
from tests.browser.canned_jobs import BEGIN, RUN_URL, event, job
from tests.browser.conftest import Open
from tests.browser.page_text import NOTHING, seconds
from tests.browser.tab import Tab

ACME = STOREFRONT.installation_id
HOUR = 3600


def open_job(tab: Tab, found: dict[str, Any], *events: dict[str, Any]) -> Page:
    tab.fulfill("installations/1/jobs/1/events", {"items": events, "next_cursor": None})
    tab.fulfill("installations/1/jobs/1", found)
    return tab.show(1, "job", part=1).page


def phases(page: Page) -> dict[str, str]:
    """The duration of each."""
    names = page.locator(".phases li > span").all_inner_texts()
    return dict(zip(names, page.locator(".phases b").all_inner_texts(), strict=True))


def fact(page: Page, name: str) -> str:
    return page.locator("dt", has_text=re.compile(f"^{name}$")).locator("+ dd").inner_text()


def titles(page: Page) -> list[str]:
    return page.locator(".timeline .event-title bdi").all_inner_texts()


def test_the_time_of_an_approval_is_a_phase_and_no_waiting_for_a_runner(open_tab: Open) -> None:
    found = job(
        1,
        environment="production",
        approval_requested_at=5,
        approved_at=5 + HOUR,
        scheduled_at=HOUR + 10,
        started_at=HOUR + 40,
        completed_at=HOUR + 100,
        overall_queue_duration_in_ms=40_000,
    )
    page = open_job(open_tab().sign_in(), found)
    assert phases(page) == {
        "Until received": "1 s",
        "Before the approval request": "4 s",
        "Awaiting approval": "1 h",
        "Waiting for a runner": "5 s",
        "Waiting to start": "30 s",
        "Running": "1 m",
    }
    assert (fact(page, "Queued for"), fact(page, "Awaiting approval")) == ("40 s", "1 h")
    expect(page.get_by_role("link", name="Review on GitHub", exact=True)).to_have_count(0)
    phase = page.locator(".phases li", has_text="Awaiting approval")
    expect(phase).to_contain_text("production")
    expect(phase.get_by_role("link", name="View the review on GitHub")).to_have_attribute("href", RUN_URL)


def test_a_job_that_awaits_an_approval_links_to_its_review(open_tab: Open) -> None:
    tab = open_tab(alone=True)
    tab.page.clock.install(time=BEGIN + timedelta(seconds=65))
    page = open_job(tab.sign_in(), job(1, "waiting", environment="production", approval_requested_at=5))
    before = seconds(phases(page)["Awaiting approval so far"])
    assert before >= 60
    assert page.locator("dt", has_text="Queued for").count() == 0
    phase = page.locator(".phases li", has_text="Awaiting approval so far")
    expect(phase).to_contain_text("production")
    expect(phase.get_by_role("link", name="Review on GitHub")).to_have_attribute("href", RUN_URL)
    expect(page.locator(".summary").get_by_role("link", name="Review on GitHub")).to_have_attribute("href", RUN_URL)
    page.clock.run_for(30_000)
    assert phases(page)["Awaiting approval so far"] == fact(page, "Awaiting approval")
    assert seconds(fact(page, "Awaiting approval")) > before + 28


def test_a_rejection_ends_the_phase_and_is_shown(open_tab: Open) -> None:
    found = job(1, conclusion="failure", approval_requested_at=5, rejected_at=65, completed_at=66)
    page = open_job(open_tab(timezone_id="UTC", locale="en-GB").sign_in(), found)
    assert phases(page)["Awaiting approval"] == "1 m"
    assert fact(page, "Rejected").endswith("10:01")


def test_an_approval_at_an_unknown_time_is_named_and_makes_the_queue_time_unknown(open_tab: Open) -> None:
    found = job(1, approval_requested_at=5, scheduled_at=HOUR, started_at=HOUR + 10, completed_at=HOUR + 20)
    page = open_job(open_tab().sign_in(), found)
    assert phases(page)["Awaiting approval and a runner"] == "59 m 55 s"
    assert "Waiting for a runner" not in phases(page)
    assert page.locator("dt", has_text="Queued for").count() == 0


def test_the_demo_has_a_job_with_an_approval(tab: Tab, sent: list[Step]) -> None:
    (approved,) = {
        each.subject
        for each in deliveries(sent)
        if each.event == "deployment_review" and each.payload["action"] == "approved"
    }
    assert isinstance(approved, Job)
    page = tab.show(ACME, "job", part=approved.id).page
    assert phases(page)["Awaiting approval"] == "19 m 57 s"
    order = titles(page)
    assert order.index("Approval requested") < order.index("Approved") < order.index("Runner scheduled")


def test_a_late_webhook_is_shown_at_the_time_of_its_event(tab: Tab, sent: list[Step]) -> None:
    jobs = [each.subject for each in deliveries(sent) if each.event == "workflow_job" and isinstance(each.subject, Job)]
    (late,) = {each for each in jobs if each.name == "smoke tests"}
    page = tab.show(ACME, "job", part=late.id).page
    expect(page.locator(".late")).to_have_count(1)
    assert titles(page)[:3] == ["Created on GitHub", "Queued", "Runner scheduled"]
    expect(page.locator(".timeline li", has=page.locator(".late"))).to_contain_text("Queued")
    others = [each for each in jobs if each.run.workflow_name in ("Matrix", "Deploy")]
    for other in {each.id: each for each in others if each.run.repository.installation_id == ACME}.values():
        expect(tab.show(ACME, "job", part=other.id).page.locator(".late")).to_have_count(0)


def test_a_carried_over_job_has_no_queue_time_or_duration_and_costs_nothing(open_tab: Open) -> None:
    original: dict[str, Any] = {"started_at": -500, "completed_at": -400, "usage_in_seconds": 0, "usage_in_dollars": 0}
    found = job(1, carried_over=True, run_attempt=2, **original)
    tab = open_tab().sign_in()
    page = open_job(tab, found, event("webhook_completed", 2, started_at=-500, completed_at=-400))
    expect(page.locator(".summary .tag")).to_have_text("carried over")
    expect(page.locator(".panel", has_text="Time breakdown")).to_contain_text(
        "its times and its runner are those of the original job"
    )
    for name in ("Queued for", "Ran for"):
        assert page.locator("dt", has_text=name).count() == 0
    assert fact(page, "Cost") == "$0"
    assert titles(page) == ["Created on GitHub", "Completed"]


def test_unknown_cost_of_a_job_is_a_dash_with_its_unpriced_time(open_tab: Open) -> None:
    found = job(1, started_at=10, completed_at=730, usage_in_seconds=720)
    page = open_job(open_tab().sign_in(), found)
    assert fact(page, "Cost").split("\n") == [NOTHING, "12 m unpriced"]


def test_the_cost_of_a_running_job_is_that_so_far(open_tab: Open) -> None:
    """EC2's minimum is one minute."""
    tab = open_tab(alone=True)
    tab.page.clock.install(time=BEGIN + timedelta(seconds=20))
    page = open_job(tab.sign_in(), job(1, "in_progress", started_at=0, price_per_hour=3.6))
    assert fact(page, "Cost").split("\n") == ["$0.0600", "so far"]
    page.clock.run_for(100_000)
    assert 0.119 < float(fact(page, "Cost").split("\n")[0].removeprefix("$")) < 0.2


def test_the_commit_and_the_custom_properties_are_shown(open_tab: Open) -> None:
    sha = "0123456789abcdef0123456789abcdef01234567"
    found = job(1, head_sha=sha, custom_properties={"team": "payments", "tier": ["1", "2"]})
    page = open_job(open_tab().sign_in(), found)
    assert fact(page, "Properties").split() == ["team:", "payments", "tier:", "1,", "2"]
    expect(page.get_by_role("link", name=sha[:12])).to_have_attribute("href", f"https://github.com/o/r/commit/{sha}")


def test_the_history_names_what_caused_each_event(open_tab: Open) -> None:
    causes = {"runner_scheduled": "Launcher", "runner_requested": "Reconciler", "job_reconciled": "Reconciler"}
    causes |= {"runner_attached": "AWS", "runner_terminated": "AWS", "runner_taken": "Runledger"}
    events = [event(name, at) | {"source": "internal"} for at, name in enumerate(causes, 1)]
    found = job(1, started_at=5, completed_at=60)
    page = open_job(open_tab().sign_in(), found, event("webhook_queued", 0), *events)
    origins = page.locator(".timeline .event-origin").all_inner_texts()
    assert [text.split(" ")[0] for text in origins] == ["GitHub", *causes.values()]


def test_a_skipped_job_never_ran(open_tab: Open) -> None:
    found = job(1, conclusion="skipped", received_at=0, started_at=0, completed_at=0)
    page = open_job(open_tab().sign_in(), found)
    expect(page.locator("main")).to_contain_text("This job was skipped: it never ran.")


def test_events_stand_where_they_happened_and_not_where_they_were_received(open_tab: Open) -> None:
    found = job(1, approval_requested_at=3, approved_at=HOUR, started_at=HOUR + 60, completed_at=HOUR + 120)
    received = (
        event("webhook_in_progress", HOUR + 61),
        event("webhook_queued", 2 * HOUR),
        event("deployment_approved", 2 * HOUR + 1, approved_at=HOUR),
        event("deployment_requested", 2 * HOUR + 2, approval_requested_at=3),
        event("webhook_queued", 2 * HOUR + 3),
        event("webhook_completed", 2 * HOUR + 4),
        event("webhook_completed", 3 * HOUR, duplicate=True),
    )
    page = open_job(open_tab(timezone_id="UTC", locale="en-GB").sign_in(), found, *received)
    assert titles(page) == [
        *("Created on GitHub", "Queued", "Approval requested", "Approved", "Queued", "Started", "Completed"),
        *("Completed", "duplicate"),
    ]
    moments = page.locator(".timeline time").evaluate_all("nodes => nodes.map((node) => node.dateTime.slice(11, 19))")
    assert moments == ["10:00:00", "10:00:00", "10:00:03", "11:00:00", "11:00:00", "11:01:00", "11:02:00", "13:00:00"]


def test_the_duration_and_the_bar_of_a_running_job_grow_every_second(open_tab: Open) -> None:
    tab = open_tab(alone=True)
    tab.page.clock.install(time=BEGIN + timedelta(seconds=100))
    page = open_job(tab.sign_in(), job(1, "in_progress", scheduled_at=2, started_at=50))
    bar = page.locator(".phase-bar .fill-in_progress")
    width = _percent(bar)
    seen = []
    for _ in range(4):
        page.clock.run_for(1000)
        seen.append(seconds(fact(page, "Ran for")))
    assert 50 < seen[0] < seen[1] < seen[2] < seen[3]
    assert phases(page)["Running so far"] == fact(page, "Ran for")
    assert _percent(bar) > width


def _percent(bar: Locator) -> float:
    return float((bar.get_attribute("width") or "").rstrip("%"))
