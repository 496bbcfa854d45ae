"""The jobs of a run over time, and the chain of jobs that decided when it ended, which GitHub does not report."""

from datetime import timedelta
from typing import Any

from playwright.sync_api import Page, expect

from tests.browser import canned_jobs
from tests.browser.canned_jobs import BEGIN
from tests.browser.conftest import Open
from tests.browser.page_text import NOTHING, seconds
from tests.browser.tab import Tab

RUN = {"installation_id": 1, "run_id": 7, "run_attempt": 1, "status": "completed", "conclusion": "success"}

# Read at once, because the chart may be drawn again in between.
WIDTHS = """kinds => Object.fromEntries(kinds.map(kind => {
    const bars = [...document.querySelectorAll(`.gantt-${kind}`)];
    return [kind, bars.reduce((sum, bar) => sum + Number(bar.getAttribute("width")), 0)];
}))"""


def job(job_id: int, name: str, *, created: int, started: int, completed: int, **more: Any) -> dict[str, Any]:
    times: dict[str, Any] = {"created_at": created, "started_at": started, "completed_at": completed}
    return canned_jobs.job(job_id, job_name=name, **times, **more)


def open_run(tab: Tab, *jobs: dict[str, Any], **run: Any) -> Page:
    tab.fulfill("installations/1/runs/7", {"run": RUN | run, "jobs": jobs, "attempts": [1, 2]})
    page = tab.show(1, "run", part=7).page
    expect(page.locator(".gantt-bars rect").first).to_be_attached()  # drawn after the layout
    return page


def tile(page: Page, label: str) -> list[str]:
    return page.locator(".tile", has_text=label).locator("> span:not(.tile-label)").all_inner_texts()


JOBS = [
    job(1, "lint", created=0, started=5, completed=60),
    job(2, "unit tests", created=0, started=10, completed=300),
    job(3, "build", created=301, started=320, completed=500),
    job(4, "scan", created=502, started=505, completed=560),
    job(5, "deploy", created=502, started=540, completed=700),
    job(6, "notify", created=700, started=700, completed=700, conclusion="skipped"),
]


def test_the_critical_path_leads_from_each_job_to_the_one_that_it_waited_for(open_tab: Open) -> None:
    page = open_run(open_tab().sign_in(), *JOBS, workflow_name="Release")
    expect(page.locator(".gantt-chain")).to_have_text("critical path: unit tests → build → deploy")
    assert page.locator(".gantt-names .critical bdi").all_inner_texts() == ["unit tests", "build", "deploy"]
    assert page.locator(".gantt-path").count() == 3


def test_a_skipped_job_has_no_bar_and_comes_last(open_tab: Open) -> None:
    page = open_run(open_tab().sign_in(), *JOBS)
    assert page.locator(".gantt-names bdi").all_inner_texts()[-1] == "notify"
    assert page.locator(".gantt-work").count() == 5
    expect(page.get_by_role("link", name="Attempt 2")).to_be_visible()


def test_carried_over_jobs_are_labelled_and_in_no_chart_path_or_count(open_tab: Open) -> None:
    """A partial re-run copies jobs that ended hours before: their bars would begin left of the chart."""
    costs = {"usage_in_seconds": 60, "usage_in_dollars": 0.5}
    carried = [
        job(each, f"old {each}", created=0, started=-30_000, completed=-29_000, carried_over=True, **costs)
        for each in (8, 9)
    ]
    failed = job(1, "sign", created=0, started=10, completed=70, conclusion="failure", **costs)
    page = open_run(open_tab().sign_in(), *carried, failed, total_jobs=3, completed_jobs=3, failed_jobs=1)
    assert page.locator(".gantt-names bdi").all_inner_texts() == ["sign"]
    expect(page.locator(".gantt-chain")).to_have_text("critical path: sign")
    bars = page.locator(".gantt-bars rect").all()
    assert bars
    assert all(float(bar.get_attribute("x") or -1) >= 0 for bar in bars)
    assert tile(page, "Jobs completed") == ["1 of 1", "2 more carried over"]
    assert (tile(page, "Failed"), tile(page, "Total duration")) == (["1"], ["1 m 10 s"])
    assert tile(page, "Cost") == ["$0.50"]
    rows = page.locator("tbody tr", has_text="carried over")
    expect(rows).to_have_count(2)
    assert rows.first.locator("td.numeric").all_inner_texts()[:3] == [NOTHING, NOTHING, "$0"]


def test_an_approval_is_a_bar_of_its_own_and_not_waiting_for_a_runner(open_tab: Open) -> None:
    reviewed = {"approval_requested_at": 100, "approved_at": 700}
    page = open_run(open_tab().sign_in(), job(1, "deploy", created=0, started=900, completed=1000, **reviewed))
    expect(page.locator(".gantt-legend")).to_contain_text("awaiting approval")
    expect(page.locator(".gantt-work")).to_have_count(1)
    widths = page.evaluate(WIDTHS, ["wait", "approval", "work"])
    assert 1.9 < widths["approval"] / widths["wait"] < 2.1
    assert 5.9 < widths["approval"] / widths["work"] < 6.1


def test_the_bar_of_a_running_job_grows_every_second(open_tab: Open) -> None:
    tab = open_tab(alone=True)
    tab.page.clock.install(time=BEGIN + timedelta(seconds=100))
    running = canned_jobs.job(2, "in_progress", started_at=20)
    page = open_run(tab.sign_in(), job(1, "lint", created=0, started=5, completed=60), running, status="in_progress")
    done, last = page.locator(".gantt-work.fill-success"), page.locator(".gantt-bars text").last
    before = float(done.get_attribute("width") or 0)
    whole, ran = seconds(tile(page, "Total duration")[0]), seconds(last.text_content() or "")
    page.clock.run_for(5000)
    assert seconds(tile(page, "Total duration")[0]) > whole + 3
    assert seconds(last.text_content() or "") > ran + 3
    assert float(done.get_attribute("width") or 0) < before


def test_the_cost_of_a_run_includes_that_of_its_running_jobs_so_far(open_tab: Open) -> None:
    tab = open_tab(alone=True)
    tab.page.clock.install(time=BEGIN + timedelta(seconds=120))
    done = job(1, "done", created=0, started=0, completed=60, usage_in_seconds=60, usage_in_dollars=0.25)
    running = canned_jobs.job(2, "in_progress", started_at=0, price_per_hour=36)
    page = open_run(tab.sign_in(), done, running, status="in_progress")
    amount, note = tile(page, "Cost")
    assert note == "so far"
    assert 1.45 <= float(amount.removeprefix("$")) < 2
    page.clock.run_for(100_000)
    assert float(tile(page, "Cost")[0].removeprefix("$")) >= float(amount.removeprefix("$")) + 0.9


def test_the_cost_of_a_run_states_the_time_that_has_no_price(open_tab: Open) -> None:
    page = open_run(
        open_tab().sign_in(),
        job(1, "priced", created=0, started=0, completed=60, usage_in_seconds=60, usage_in_dollars=0.25),
        job(2, "unpriced", created=0, started=0, completed=7200, usage_in_seconds=7200),
    )
    assert tile(page, "Cost") == ["$0.25", "2 h unpriced"]
    priced, unpriced = (row.locator("td").nth(6).inner_text().split("\n") for row in page.locator("tbody tr").all())
    assert (priced, unpriced) == (["$0.25"], [NOTHING, "2 h unpriced"])
