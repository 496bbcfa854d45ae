"""What the dashboard shows of statistics, and the same from the figures, formatted independently of it."""

from datetime import datetime, timedelta
from typing import Any

from tests.browser.page_text import NOTHING, dollars, duration, jobs, percent
from tests.browser.tab import Tab

RANKED = 6


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
            f"{found['succeeded']:,} of {decided:,} jobs that succeeded or failed"
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


def rankings(
    found: dict[str, Any], *, with_repository: bool, at_most: int | None = RANKED
) -> dict[str, list[list[str]]]:
    def name(row: dict[str, Any]) -> str:
        repository = row["repo_full_name"] if with_repository else ""
        return f"{row['job_name']}{row.get('workflow_name', NOTHING)}{repository}"

    slowest = [[name(row), f"{row['jobs']:,}", duration(row["p90_seconds"])] for row in found["slowest"]]
    costliest = [[name(row), f"{row['jobs']:,}", dollars(row["usage_in_dollars"])] for row in found["costliest"]]
    both = {"Slowest jobs": slowest[:at_most], "Most expensive jobs": costliest[:at_most]}
    return {title: rows for title, rows in both.items() if rows}
