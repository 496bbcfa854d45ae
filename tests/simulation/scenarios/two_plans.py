"""A launcher plans one machine for two jobs, and the second one runs there. That is no theft: both plans hold."""

from tests.simulation.machine_inputs import FIRST, ONE, SECOND, completed, queued, scheduled, warned
from tests.simulation.scenario import Scenario
from tests.support.ledgers import JOBS

SCENARIO = Scenario(
    inputs={
        "queued 1": queued(FIRST),
        "scheduled 1": scheduled(FIRST, ONE, 7),
        "scheduled 2": scheduled(SECOND, ONE, 10),
        "completed 2": completed(SECOND, ONE, 12, 20),
        "warning": warned(ONE, 25),
    },
    jobs={
        FIRST: {
            "status": "scheduled",
            "instance_id": ONE,
            "scheduled_at": "2025-01-15T10:07:00.000Z",
            "pool_name": "small-arm64",
            "lost_plan_at": None,
            "interrupted_at": "2025-01-15T10:25:00.000Z",
        },
        SECOND: {"instance_id": ONE, "scheduled_at": "2025-01-15T10:10:00.000Z", "was_interrupted": None},
    },
    machines={ONE: {"job_id": SECOND, "intended_job_id": SECOND, "taken_at": None}},
    ignored={JOBS: frozenset({"runner_name"})},  # the name of a plan is not restored
)
