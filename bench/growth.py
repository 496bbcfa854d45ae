"""Cost per job as the number of jobs grows, compared with the smallest size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.lives import Life, normal
from bench.report import Figure

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.harness import Harness
    from bench.meter import Usage

HOW = "Amazon DynamoDB Local; "


def runs(harness: Harness, size: int) -> tuple[Usage, int]:
    """One job in each run."""
    return _play(harness, [Life() for _ in range(size)])


def matrix(harness: Harness, size: int) -> tuple[Usage, int]:
    """All jobs in one run: all are queued, then all start, then all complete."""
    first = Life()
    rest = [Life(run_number=first.number) for _ in range(size - 1)]
    return _play(harness, [first, *rest])


def history(harness: Harness, size: int) -> tuple[Usage, int]:
    """One more webhook for a job with a long history."""
    job = Life()
    harness.measure(*normal(job)[:2])
    harness.measure(*(job.webhook("waiting", hook=number) for number in range(1, size + 1)))
    return harness.measure(job.webhook("in_progress")), 1


def _play(harness: Harness, jobs: list[Life]) -> tuple[Usage, int]:
    steps = zip(*(normal(job) for job in jobs), strict=True)
    return harness.measure(*(step for together in steps for step in together)), len(jobs)


MEASUREMENTS: dict[str, tuple[Callable[[Harness, int], tuple[Usage, int]], tuple[int, ...]]] = {
    "runs": (runs, (1, 10, 100)),
    "matrix": (matrix, (1, 10, 100, 256)),
    "history": (history, (1, 10, 100)),
}


def measure(harness: Harness) -> list[Figure]:
    harness.measure(*normal(Life()))
    return [entry for name, (grow, sizes) in MEASUREMENTS.items() for entry in _entries(harness, name, grow, sizes)]


def _entries(
    harness: Harness, name: str, grow: Callable[[Harness, int], tuple[Usage, int]], sizes: tuple[int, ...]
) -> list[Figure]:
    entries: list[Figure] = []
    least: tuple[float, float] | None = None
    for size in sizes:
        usage, jobs = grow(harness, size)
        units, calls = usage.written() / jobs, usage.round_trips / jobs
        least = least or (units, calls)
        how = HOW + f"{grow.__doc__} Per job, all tables; baseline: {sizes[0]}"
        entries += [
            Figure(key=f"growth.{name}.{size}.units", value=units, baseline=least[0], unit="write units", how=how),
            Figure(key=f"growth.{name}.{size}.calls", value=calls, baseline=least[1], unit="calls", how=how),
        ]
    return entries
