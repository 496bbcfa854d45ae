"""The scenarios: inputs in the order of events, and what jobs, machines, deployments and runs are in the end."""

from collections.abc import Mapping

from tests.simulation.scenario import Scenario
from tests.simulation.scenarios import (
    gates_and_runs,
    late_failure,
    reschedule,
    restart_before_busy,
    restart_before_start,
    return_to_plan,
    reuse_after_theft,
    reused_runner,
    silent_death,
    spot_warning,
    standby_pool,
    swap,
    theft,
    two_hooks,
    two_plans,
    unknown_machine,
    warm_pool,
)

MACHINES = (
    standby_pool,
    warm_pool,
    theft,
    late_failure,
    reschedule,
    restart_before_busy,
    restart_before_start,
    return_to_plan,
    reuse_after_theft,
    reused_runner,
    silent_death,
    spot_warning,
    swap,
    two_hooks,
    two_plans,
    unknown_machine,
)
SCENARIOS: Mapping[str, Scenario] = {
    **gates_and_runs.SCENARIOS,
    **{module.__name__.rpartition(".")[2]: module.SCENARIO for module in MACHINES},
}
