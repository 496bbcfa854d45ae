"""What a job's history must be: lines in the order of the job's versions replay the job, and no chain is broken."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from runledger.recording.decision import TRACKED
from runledger.tables.attributes import from_attributes

from tests.simulation.differences import Tables
from tests.support.ledgers import EVENTS, JOBS


def broken_histories(tables: Tables) -> list[str]:
    lines: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for (partition, _), item in tables[EVENTS].items():
        lines[partition].append(from_attributes(item))
    return [
        f"{partition}: {problem}"
        for (partition, sort), item in tables[JOBS].items()
        if sort == "v"
        for problem in _broken(from_attributes(item), lines[partition])
    ]


def _broken(job: dict[str, Any], lines: Iterable[dict[str, Any]]) -> Iterator[str]:
    """A line without changes may have any version; each change of the job has one of its own."""
    state: dict[str, Any] = {}
    for line in sorted(lines, key=lambda line: line["version"]):
        for name, change in (line.get("changes") or {}).items():
            if state.get(name) != change.get("from"):
                yield f"{line['SK']}: {name} was {state.get(name)!r}, not {change.get('from')!r}"
            state[name] = change.get("to")
    for name in TRACKED:
        if state.get(name) != job.get(name):
            yield f"the history ends with {name} {state.get(name)!r}, but it is {job.get(name)!r}"
