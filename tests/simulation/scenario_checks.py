"""What every scenario must end in, whatever the order of its inputs."""

from collections.abc import Iterator, Mapping
from typing import Any

from runledger.tables.attributes import from_attributes

from tests.simulation.differences import Ignored
from tests.simulation.explore import Flow, Outcome, in_order, play
from tests.simulation.histories import broken_histories
from tests.simulation.machine_inputs import look_up_all
from tests.simulation.scenario import Expected, Scenario, deployment_key, job_key, run_key
from tests.simulation.world import World
from tests.support.ledgers import DEPLOYMENTS, EVENTS, JOBS, RUNNERS, RUNS

# What depends on the order of processing. docs/adr/ gives the reasons.
ORDER_OF_PROCESSING: Ignored = {
    JOBS: frozenset({"inputs", "version", "last_updated_at", "ttl"}),
    EVENTS: frozenset({"changes", "status", "version"}),
    RUNS: frozenset({"ttl"}),
    RUNNERS: frozenset({"version", "assignments", "claims", "ttl", "confirmed_at", "account_id", "region"}),
    DEPLOYMENTS: frozenset({"checked_at", "ttl"}),
}
MACHINE_LINES = (
    "runner_attached",
    "runner_rebalance_recommended",
    "runner_interrupted",
    "runner_terminated",
    "runner_taken",
)


def undisturbed(*flows: Flow) -> Outcome:
    """All lookups are done in the end."""
    return play(World(), {"A": in_order(*flows, look_up_all)})


def violations(outcome: Outcome, scenario: Scenario, expected: Outcome) -> list[str]:
    return [
        *mistakes(outcome, scenario),
        *differences(outcome, scenario, expected),
        *broken_histories(outcome.tables),
    ]


def differences(outcome: Outcome, scenario: Scenario, expected: Outcome) -> list[str]:
    ignored = {table: names | scenario.ignored.get(table, frozenset()) for table, names in ORDER_OF_PROCESSING.items()}
    return [
        line
        for line in outcome.differences(expected.tables, ignored)
        if not any(f"#{name}#" in line for name in MACHINE_LINES)
    ]


def mistakes(outcome: Outcome, scenario: Scenario) -> list[str]:
    expected = {
        JOBS: {job_key(each): attributes for each, attributes in scenario.jobs.items()},
        RUNNERS: scenario.machines,
        DEPLOYMENTS: {deployment_key(each): attributes for each, attributes in scenario.deployments.items()},
        RUNS: {run_key(each): attributes for each, attributes in scenario.runs.items()},
    }
    return [line for table, items in expected.items() for line in _mistakes(outcome, table, items)]


def _mistakes(outcome: Outcome, table: str, expected: Mapping[str, Expected]) -> Iterator[str]:
    for partition, attributes in expected.items():
        item = outcome.tables[table].get((partition, "v"))
        found: dict[str, Any] = from_attributes(item) if item else {}
        for name, value in attributes.items():
            if found.get(name) != value:
                yield f"{table} {partition}: {name} is {found.get(name)!r}, expected {value!r}"
