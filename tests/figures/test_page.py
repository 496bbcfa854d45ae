"""Every number that the page shows about a month, compared with one that is computed without the product's code."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from stacks.constructs import web
from tests.api.client import Client
from tests.api.conftest import api, ledger
from tests.browser import statistics_text
from tests.figures import charts, displayed, displayed_job, expected
from tests.figures.month import NOW, REPOSITORIES, Fact
from tests.figures.page import Dashboard, chromium
from tests.figures.test_month import month
from tests.functions.conftest import world

__all__ = ["api", "chromium", "ledger", "month", "world"]

RANGES = {"24h": (24, expected.HOUR), "7d": (7 * 24, expected.DAY), "30d": (30 * 24, expected.DAY)}
PAGE = 50  # jobs
TILES = "tiles => tiles.map((tile) => [...tile.children].map((each) => each.textContent))"


@pytest.fixture
def dashboard(chromium: Browser, api: Client, month: list[Fact], tmp_path: Path) -> Iterator[Dashboard]:
    assert month
    web.build(tmp_path)
    tab = Dashboard(chromium, api, tmp_path)
    yield tab
    tab.close()
    assert tab.troubles == []


def since(chosen: str) -> datetime:
    return NOW - timedelta(hours=RANGES[chosen][0])


def test_every_number_of_the_overview_and_of_a_repository_follows_its_definition(
    dashboard: Dashboard, month: list[Fact]
) -> None:
    for chosen in RANGES:
        _compare_statistics(dashboard.view("overview", range=chosen), month, chosen, repo=None)
        _compare_now(dashboard, month)
        for repo in REPOSITORIES:
            _compare_statistics(dashboard.view("repository", repo=repo, range=chosen), month, chosen, repo=repo)


def _compare_now(dashboard: Dashboard, month: list[Fact]) -> None:
    now = dashboard.page.locator(".tiles.now .tile").evaluate_all(TILES)
    assert now == [
        [displayed.named(status), str(number), *(["last 24 hours"] if status == "completed" else [])]
        for status, number in displayed.counters(month).items()
    ]
    problems = [tuple(each[:3]) for each in dashboard.lines(".attention > li")]
    assert problems == displayed.attention(month)


def _compare_statistics(tab: Dashboard, month: list[Fact], chosen: str, *, repo: str | None) -> None:
    step = RANGES[chosen][1]
    want = displayed.statistics([fact for fact in month if repo in (None, fact.repo)], since(chosen), step)
    shown, figures = statistics_text.shown(tab), statistics_text.expected(want, with_repository=repo is None)
    assert shown["tiles"] == figures["tiles"], (chosen, repo)
    if not want["jobs"] and not want["by_conclusion"] and not want["usage_in_seconds"]:
        assert tab.lines(".empty-title") == [["No jobs in this range"]]
        assert shown["tables"] == {}
        return
    assert shown["tables"].keys() == figures["tables"].keys(), (chosen, repo)
    every = statistics_text.rankings(want, with_repository=repo is None, at_most=None)
    for title, rows in figures["tables"].items():
        if title in every:  # names with the same figure are in any order
            assert [row[-1] for row in shown["tables"][title]] == [row[-1] for row in rows], (chosen, repo, title)
            assert all(row in every[title] for row in shown["tables"][title]), (chosen, repo, title)
        else:
            assert shown["tables"][title] == rows, (chosen, repo, title)
    charts.compare(tab, want["series"], displayed.first_step(since(chosen), step), step)


def test_every_number_of_the_repositories_and_pools_follows_its_definition(
    dashboard: Dashboard, month: list[Fact]
) -> None:
    for chosen in RANGES:
        _compare_repositories(dashboard, month, chosen)
        _compare_pools(dashboard, month, chosen)


def _compare_repositories(dashboard: Dashboard, month: list[Fact], chosen: str) -> None:
    dashboard.view("repositories", range=chosen)
    rows = {row["Repository"][0]: row for row in dashboard.table("Repositories")}
    counted = expected.repositories(month, since(chosen))
    assert rows.keys() == counted.keys()
    for repo, jobs in counted.items():
        found = displayed.statistics([fact for fact in month if fact.repo == repo], since(chosen), RANGES[chosen][1])
        assert rows[repo] == displayed.repository(repo, month, found, since(chosen))
        _compare_sparkline(dashboard, repo, jobs, [point["jobs"] for point in found["series"]])


def _compare_pools(dashboard: Dashboard, month: list[Fact], chosen: str) -> None:
    types = {fact.machine.pool: fact.machine.instance_type for fact in month if fact.machine}
    pools = expected.pools(month, since(chosen), NOW)
    shown = dashboard.view("pools", range=chosen).table("Runner pools")
    assert {row["Pool"][0]: row for row in shown} == {
        name: displayed.pool(name, types[name], want) for name, want in pools.items()
    }


def _compare_sparkline(tab: Dashboard, repo: str, jobs: int, per_step: list[int]) -> None:
    spark = tab.page.locator("tr", has_text=repo).locator("svg.spark")
    assert spark.get_attribute("aria-label") == f"Jobs over time: {jobs} job{'' if jobs == 1 else 's'}"
    heights = spark.locator("rect").evaluate_all("all => all.map((each) => Number(each.getAttribute('height')))")
    highest = max(per_step)
    assert heights == pytest.approx([max(1.5, 24 * number / highest) for number in per_step if number])


def test_every_number_of_the_lists_of_jobs_follows_its_definition(dashboard: Dashboard, month: list[Fact]) -> None:
    for repo in REPOSITORIES:
        rows = displayed.by_creation([fact for fact in month if fact.repo == repo])
        assert len(rows) <= PAGE
        _compare_list(dashboard.view("jobs", repo=repo), [row for _, _, row in rows])
    for status in displayed.STATUSES[:-1]:
        rows = displayed.by_creation([fact for fact in month if expected.status(fact) == status])
        _compare_list(dashboard.view("jobs", status=status), [row for _, _, row in rows])
    for chosen in RANGES:
        done = sorted(
            expected.completed_in(month, since(chosen), NOW), key=lambda fact: fact.completed or NOW, reverse=True
        )
        dashboard.view("jobs", status="completed", range_of="completed", since=chosen)
        _compare_list(dashboard, [displayed.row(fact) for fact in done])
    shown = dashboard.lines(".statuses .choices a")
    assert shown == [
        [displayed.named(status), f"{number} in 24 h" if status == "completed" else str(number)]
        for status, number in displayed.counters(month).items()
    ]


def _compare_list(tab: Dashboard, rows: list[dict[str, list[str]]]) -> None:
    """The page lists fifty jobs at once."""
    for start in range(0, max(len(rows), 1), PAGE):
        part = rows[start : start + PAGE]
        (footer,) = tab.lines(".pages > span")
        on_this_page = " on this page" if len(rows) > PAGE else ""
        assert footer == ([f"{len(part)} job{'' if len(part) == 1 else 's'}{on_this_page}"] if part else [])
        assert (tab.table("Jobs") if part else []) == part
        older = tab.page.locator("#older")
        assert older.count() == int(start + PAGE < len(rows))
        if older.count():
            older.click()
            tab.settled()


def test_every_number_of_every_job_and_run_follows_its_definition(dashboard: Dashboard, month: list[Fact]) -> None:
    for fact in month:
        _compare_job(dashboard.view("job", part=fact.job_id), fact)
        _compare_run(dashboard.view("run", part=fact.run_id, attempt=1), fact)
        for at, (job_id, created) in enumerate(displayed.copies(fact)):
            dashboard.view("job", part=job_id)
            assert _details(dashboard) == displayed_job.copy_details(fact, job_id, created), fact
            assert _timeline(dashboard) == displayed_job.copy_timeline(fact, created), fact
            assert dashboard.page.locator(".phases").count() == 0
            dashboard.view("run", part=fact.run_id, attempt=2 + at)
            assert _tiles(dashboard) == displayed_job.copied_run_tiles(1), fact
            assert dashboard.table("Jobs") == [displayed.copy_row(fact, created)], fact
            assert dashboard.page.locator(".gantt").count() == 0


def _compare_job(tab: Dashboard, fact: Fact) -> None:
    phases = displayed_job.phases(fact)
    assert tab.lines(".phases > li") == phases, fact
    tooltips = tab.page.locator(".phase-bar title").all_text_contents()
    assert tooltips == [f"{name}: {took}" for name, took, *_ in phases], fact
    assert _details(tab) == displayed_job.details(fact), fact
    assert _timeline(tab) == displayed_job.timeline(fact), fact


def _details(tab: Dashboard) -> dict[str, str]:
    return {name: value for name, value in tab.facts().items() if name not in displayed_job.WORDS}


def _timeline(tab: Dashboard) -> list[list[str]]:
    """The timeline without the changes of each event and the id of its delivery."""
    lines = tab.page.locator(".timeline > li").evaluate_all(
        "all => all.map((each) => [...each.querySelectorAll('.gap, .event-title > *, .event-origin')].flatMap("
        "(part) => part.innerText.split('\\n')).map((line) => line.trim()).filter(Boolean))"
    )
    return [[*line[:-1], _without_id(line[-1])] if at else line for at, line in enumerate(lines)]


def _without_id(origin: str) -> str:
    return origin.rpartition(" · ")[0]


def _compare_run(tab: Dashboard, fact: Fact) -> None:
    assert _tiles(tab) == displayed_job.run_tiles(fact), fact
    assert tab.table("Jobs") == [displayed.row(fact)], fact
    bars = tab.page.locator(".gantt-bars g title, .gantt-bars g text, .gantt-bars svg > text.axis:last-of-type")
    bars.last.wait_for(state="attached")  # drawn after the page was laid out
    assert bars.all_text_contents()[-len(displayed_job.bar(fact)) :] == displayed_job.bar(fact), fact
    (aloud,) = tab.page.locator(".gantt-names .visually-hidden").all_text_contents()
    status = "failure" if fact.conclusion in expected.FAILED else fact.conclusion or expected.status(fact)
    on_path = "" if fact.conclusion == "skipped" else ", on the critical path"
    assert aloud == f", {displayed.named(status)}, {displayed_job.described(fact)}{on_path}", fact


def _tiles(tab: Dashboard) -> dict[str, list[str]]:
    tiles = tab.page.locator(".tiles .tile").evaluate_all(TILES)
    return {label: rest for label, *rest in tiles}
