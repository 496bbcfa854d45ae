"""Two runs of the bench side by side."""

from pathlib import Path

import pytest

from bench import comparison
from bench.report import Figure, write


def run(file: Path, *figures: Figure) -> Path:
    write(figures, file)
    return file


def count(value: float, *, key: str = "capacity.life.units", unit: str = "write units") -> Figure:
    return Figure(key=key, value=value, unit=unit, how="counted")


def time(value: float, baseline: float | None) -> Figure:
    return Figure(key="cpu.new_job.us", value=value, baseline=baseline, unit="µs", how="timed", kind="time")


@pytest.mark.parametrize(
    ("before", "after", "is_worse"),
    [
        (count(100), count(103), True),
        (count(100), count(97), False),
        (count(0), count(1), True),
        (time(100, 50), time(110, 50), True),
        (time(100, 50), time(100, 60), False),
        (count(100, unit="webhooks/s"), count(90, unit="webhooks/s"), True),
        (count(100, unit="webhooks/s"), count(110, unit="webhooks/s"), False),
    ],
)
def test_a_difference_above_two_percent_is_better_or_worse(
    tmp_path: Path, before: Figure, after: Figure, is_worse: bool
) -> None:
    [found] = comparison.differences(run(tmp_path / "before", before), run(tmp_path / "after", after))
    assert found.is_worse is is_worse


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (count(100), count(102)),
        (count(0), count(0)),
        (time(100, 50), time(200, 100)),
        (time(100, None), time(200, None)),
        (count(1, key="only.before"), count(2, key="only.after")),
    ],
)
def test_smaller_differences_and_times_without_a_baseline_are_omitted(
    tmp_path: Path, before: Figure, after: Figure
) -> None:
    assert comparison.differences(run(tmp_path / "before", before), run(tmp_path / "after", after)) == []


def test_worse_figures_are_listed_first(tmp_path: Path) -> None:
    before = run(tmp_path / "before", count(10, key="a.better"), count(10, key="b.worse"))
    after = run(tmp_path / "after", count(5, key="a.better"), count(20, key="b.worse"))
    _, worse, better = comparison.lines(comparison.differences(before, after))
    assert worse.split() == ["b.worse", "10", "20", "+100.0%", "worse"]
    assert better.split() == ["a.better", "10", "5", "-50.0%", "better"]
