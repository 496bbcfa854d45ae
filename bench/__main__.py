"""Runs every measurement, writes `.local/bench.json` and prints a table.

`docs` updates the counts in the documents instead. `compare` compares `.local/bench.json` with that of an earlier run.
"""

from __future__ import annotations

import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from bench import (
    capacity,
    cold_start,
    comparison,
    counts,
    cpu,
    documents,
    growth,
    harness,
    load,
    packages,
    query,
    report,
    round_trips,
)
from local.aws import deployment, dynamodb, emulator
from local.github import simulator
from local.processes import LocalError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench.report import Figure

RESULTS = Path(__file__).parent.parent / ".local" / "bench.json"
ON_DYNAMODB_LOCAL = (capacity, round_trips, growth, query, cpu)


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        entries = [*_on_dynamodb_local(folder), *_on_a_deployment(folder)]
    report.write(entries, RESULTS)
    print("\n".join(report.lines(entries)))
    print(f"All figures and how they were measured: {RESULTS}")


def update_documents() -> None:
    with (
        tempfile.TemporaryDirectory() as name,
        dynamodb.running(Path(name)) as url,
        harness.create(url, "docs") as made,
    ):
        documents.update(counts.count(made))
    print("Updated " + " and ".join(document.name for document in documents.DOCUMENTS))


def compare(before: Path) -> None:
    found = comparison.differences(before, RESULTS)
    print("\n".join(comparison.lines(found)))
    if any(each.is_worse for each in found):
        raise LocalError(f"some figures are more than {comparison.TOLERANCE:.0%} worse than in {before}")


def _on_dynamodb_local(folder: Path) -> list[Figure]:
    found: list[Figure] = []
    with dynamodb.running(folder) as url:
        for measurement in ON_DYNAMODB_LOCAL:
            name = measurement.__name__.rpartition(".")[2]
            with _timed(f"Measuring {name}"), harness.create(url, name) as created:
                found += measurement.measure(created)
    return found


def _on_a_deployment(folder: Path) -> list[Figure]:
    with emulator.running(folder) as aws_url, simulator.running(folder) as github_url:
        with _timed("Deploying"):
            outputs = deployment.deploy(aws_url, folder, github_api_url=github_url, progress=lambda _: None)
        with _timed("Measuring load"):
            loaded = load.measure(outputs)
    assembly = folder / "cdk.out"
    with _timed("Measuring cold starts"):
        return [*loaded, *packages.measure(assembly, folder), *cold_start.measure(assembly, folder)]


@contextmanager
def _timed(what: str) -> Iterator[None]:
    print(what, end="", flush=True)
    started = time.monotonic()
    yield
    print(f" ({time.monotonic() - started:.0f} s)")


if __name__ == "__main__":
    try:
        match sys.argv[1:]:
            case ["docs"]:
                update_documents()
            case ["compare", earlier]:
                compare(Path(earlier))
            case _:
                main()
    except (LocalError, OSError) as problem:
        sys.exit(f"bench: {problem}")
