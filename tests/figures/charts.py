"""What the page's charts draw, measured in the browser, and the same from the figures."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from playwright.sync_api import Locator

from tests.browser.page_text import dollars, duration
from tests.figures import expected
from tests.figures.page import Dashboard

PIXEL = 1.01
# Follows the arrow keys through the chart, and collects what each position reads.
READ = """(chart, positions) => Array.from({length: positions}, () => {
  chart.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowRight"}));
  return [...chart.querySelector(".reading").children].map((each) => each.textContent);
})"""
# Numbers of the axes with their places, and the ends of every line and bar.
DRAWN = """(chart) => {
  const number = (node, name) => Number(node.getAttribute(name));
  const labels = (anchor) => [...chart.querySelectorAll(`text.axis[text-anchor=${anchor}]`)];
  return {
    rules: labels("end").map((each) => [each.textContent, number(each, "y") - 4]),
    dates: labels("middle").map((each) => [each.textContent, number(each, "x")]),
    points: [...chart.querySelectorAll("path.line")].map((each) =>
      [...each.getAttribute("d").matchAll(/[ML]([\\d.]+) ([\\d.]+)/g)].map((at) => [Number(at[1]), Number(at[2])])),
    bars: [...chart.querySelectorAll("rect")].map((each) => [
      each.getAttribute("class"),
      number(each, "x") + number(each, "width") / 2,
      number(each, "y"),
      number(each, "height"),
    ]),
    width: chart.querySelector("svg").clientWidth,
  };
}"""
UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86_400}
SUBJECTS = {
    "Queue time": {"p50": "queue_p50", "p90": "queue_p90"},
    "Job duration": {"p50": "duration_p50", "p90": "duration_p90"},
    "Completed jobs": {"succeeded": "succeeded", "failed": "failed", "other": "other"},
    "Spend": {"spend": "usage_in_dollars"},
}
COLOURS = {"succeeded": "fill-success", "failed": "fill-failure", "other": "fill-other", "spend": "fill-accent"}


def compare(tab: Dashboard, series: list[dict[str, Any]], start: datetime, step: timedelta) -> None:
    """Every reading of every chart, and the place of every line and bar."""
    charts = tab.page.locator(".chart")
    assert charts.count() == len(SUBJECTS)
    points = [point | {"other": point["completed"] - point["succeeded"] - point["failed"]} for point in series]
    for title in SUBJECTS:
        chart = charts.filter(has=tab.page.locator(".chart-title", has_text=title))
        readings = chart.evaluate(READ, len(points))
        for at, point in enumerate(points):
            assert readings[at] == _reading(title, start + step * at, step, point), (title, at)
        _compare_drawing(chart, title, points, [start + step * at for at in range(len(points))], step)


def _reading(title: str, start: datetime, step: timedelta, point: dict[str, Any]) -> list[str]:
    day = f"{start.day} {start:%b}"
    when = f"{day} UTC" if step == expected.DAY else f"{day}, {start:%H:%M} UTC"
    text: Callable[[Any], str] = dollars if title == "Spend" else str if title == "Completed jobs" else duration
    shown = [when, *(f"{name} {text(point[figure])}" for name, figure in SUBJECTS[title].items())]
    unpriced = title == "Spend" and point["unpriced_seconds"]
    return [*shown, f"{duration(point['unpriced_seconds'])} unpriced"] if unpriced else shown


def _compare_drawing(
    chart: Locator, title: str, points: list[dict[str, Any]], starts: list[datetime], step: timedelta
) -> None:
    drawn = chart.evaluate(DRAWN)
    slot = (drawn["width"] - 60) / len(points)
    (low, bottom), (high, top) = ((_value(text), y) for text, y in (drawn["rules"][0], drawn["rules"][-1]))
    assert low == 0
    assert high >= max(_height(title, point) for point in points)

    def y(value: float) -> float:
        return float(bottom + (top - bottom) * value / high)

    for text, x in drawn["dates"]:
        start = starts[round((x - 52) / slot - 0.5)]
        assert text == (f"{start.day} {start:%b}" if step == expected.DAY else f"{start:%H:%M}"), (title, x)
    xs = [52 + slot * (at + 0.5) for at in range(len(points))]
    if drawn["points"]:
        for figure, line in zip(SUBJECTS[title].values(), drawn["points"], strict=True):
            known = [(xs[at], y(point[figure])) for at, point in enumerate(points) if point[figure] is not None]
            assert len(line) == len(known), (title, figure)
            for got, want in zip(line, known, strict=True):
                assert abs(got[0] - want[0]) < PIXEL, (title, figure, want)
                assert abs(got[1] - want[1]) < PIXEL, (title, figure, want)
    want_bars = list(_bars(title, points, xs)) if not drawn["points"] else []
    assert len(drawn["bars"]) == len(want_bars), title
    for (colour, x, edge, height), (kind, at, below, value) in zip(drawn["bars"], want_bars, strict=True):
        assert (colour, abs(x - at) < PIXEL) == (COLOURS[kind], True), (title, at)
        assert abs(edge - y(below + value)) < PIXEL, (title, at)
        assert abs(height - max(1, y(below) - y(below + value))) < PIXEL, (title, at)


def _bars(title: str, points: list[dict[str, Any]], xs: list[float]) -> Any:
    for at, point in enumerate(points):
        below = 0.0
        for name, figure in SUBJECTS[title].items():
            if point[figure]:
                yield name, xs[at], below, point[figure]
                below += point[figure]


def _height(title: str, point: dict[str, Any]) -> float:
    values = [point[figure] or 0 for figure in SUBJECTS[title].values()]
    return float(sum(values) if title in ("Completed jobs", "Spend") else max(values))


def _value(text: str) -> float:
    """The value of a label of an axis."""
    if text.startswith("$") or text.isdigit():
        return float(text.removeprefix("$").replace(",", ""))
    parts = text.split()
    return sum(float(number) * UNITS[unit] for number, unit in zip(parts[::2], parts[1::2], strict=True))
