"""What every scenario of jobs and machines must end in."""

from collections.abc import Mapping
from typing import Any

from runledger.tables.attributes import from_attributes

from tests.ledgers import EVENTS, JOBS, RUNNERS, RUNS
from tests.simulation.explore import Flow, Outcome, in_order, play
from tests.simulation.machine_inputs import Scenario, look_up_all
from tests.simulation.scenarios import (
    reschedule,
    reused_runner,
    silent_death,
    spot_warning,
    standby_pool,
    swap,
    theft,
    two_hooks,
    unknown_machine,
    warm_pool,
)
from tests.simulation.world import World

MODULES = (
    standby_pool,
    warm_pool,
    theft,
    reschedule,
    reused_runner,
    silent_death,
    spot_warning,
    swap,
    two_hooks,
    unknown_machine,
)
SCENARIOS: dict[str, Scenario] = {module.__name__.rpartition(".")[2]: module.SCENARIO for module in MODULES}
# See docs/adr/0001-machines-and-assignments.md for the reasons.
ORDER_OF_PROCESSING = {
    JOBS: frozenset({"inputs", "version", "last_updated_at", "ttl", "first_seen_at", "org_name"}),
    EVENTS: frozenset({"changes", "status", "version"}),
    RUNS: frozenset({"status", "ttl", "created_at"}),
    RUNNERS: frozenset({"version", "assignments", "claims", "ttl", "confirmed_at"}),
}
MACHINE_LINES = (
    "runner_attached",
    "runner_rebalance_recommended",
    "runner_interrupted",
    "runner_terminated",
    "runner_taken",
)


def undisturbed(*flows: Flow) -> Outcome:
    return play(World(), {"A": in_order(*flows, look_up_all)})


def differences(outcome: Outcome, expected: Outcome) -> list[str]:
    return [
        line
        for line in outcome.differences(expected.tables, ORDER_OF_PROCESSING)
        if not any(f"#{name}#" in line for name in MACHINE_LINES)
    ]


def mistakes(outcome: Outcome, scenario: Scenario) -> list[str]:
    jobs, machines = _found(outcome, JOBS), _found(outcome, RUNNERS)
    wrong = [
        f"job {job}: {name} is {jobs[scenario.key(job)].get(name)!r}, expected {value!r}"
        for job, attributes in scenario.jobs.items()
        for name, value in attributes.items()
        if jobs[scenario.key(job)].get(name) != value
    ]
    return wrong + [
        f"machine {machine}: {name} is {machines[machine].get(name)!r}, expected {value!r}"
        for machine, attributes in scenario.machines.items()
        for name, value in attributes.items()
        if machines[machine].get(name) != value
    ]


def _found(outcome: Outcome, table: str) -> Mapping[str, dict[str, Any]]:
    return {key[0]: from_attributes(item) for key, item in outcome.tables[table].items()}
