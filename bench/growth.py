"""Cost per job as the number of jobs grows, compared with the smallest size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.lives import Life, normal
from bench.report import Entry

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.bed import Bed
    from bench.meter import Usage

HOW = "Amazon DynamoDB Local; "


def runs(bed: Bed, size: int) -> tuple[Usage, int]:
    """One job in each run."""
    return _play(bed, [Life() for _ in range(size)])


def matrix(bed: Bed, size: int) -> tuple[Usage, int]:
    """All jobs in one run: all are queued, then all start, then all complete."""
    first = Life()
    rest = [Life(run_number=first.number) for _ in range(size - 1)]
    return _play(bed, [first, *rest])


def history(bed: Bed, size: int) -> tuple[Usage, int]:
    """One more webhook for a job with a long history."""
    job = Life()
    bed.measure(*normal(job)[:2])
    bed.measure(*(job.webhook("waiting", hook=number) for number in range(1, size + 1)))
    return bed.measure(job.webhook("in_progress")), 1


def _play(bed: Bed, jobs: list[Life]) -> tuple[Usage, int]:
    steps = zip(*(normal(job) for job in jobs), strict=True)
    return bed.measure(*(step for together in steps for step in together)), len(jobs)


MEASUREMENTS: dict[str, tuple[Callable[[Bed, int], tuple[Usage, int]], tuple[int, ...]]] = {
    "runs": (runs, (1, 10, 100)),
    "matrix": (matrix, (1, 10, 100, 256)),
    "history": (history, (1, 10, 100)),
}


def measure(bed: Bed) -> list[Entry]:
    bed.measure(*normal(Life()))
    return [entry for name, (grow, sizes) in MEASUREMENTS.items() for entry in _entries(bed, name, grow, sizes)]


def _entries(bed: Bed, name: str, grow: Callable[[Bed, int], tuple[Usage, int]], sizes: tuple[int, ...]) -> list[Entry]:
    entries: list[Entry] = []
    least: tuple[float, float] | None = None
    for size in sizes:
        usage, jobs = grow(bed, size)
        units, calls = usage.written() / jobs, usage.round_trips / jobs
        least = least or (units, calls)
        how = HOW + f"{grow.__doc__} Per job, all tables; baseline: {sizes[0]}"
        entries += [
            Entry(key=f"growth.{name}.{size}.units", value=units, baseline=least[0], unit="write units", how=how),
            Entry(key=f"growth.{name}.{size}.calls", value=calls, baseline=least[1], unit="calls", how=how),
        ]
    return entries
