"""Another job takes the planned machine and completes. Then the machine runs the job that it was launched for."""

from tests.simulation.machine_inputs import FIRST, ONE, SECOND, completed, queued, scheduled, started
from tests.simulation.scenario import Scenario

SCENARIO = Scenario(
    inputs={
        "queued 1": queued(FIRST),
        "queued 2": queued(SECOND),
        "scheduled 2": scheduled(SECOND, ONE, 9),
        "started 1": started(FIRST, ONE, 13),
        "completed 1": completed(FIRST, ONE, 13, 16),
        "started 2": started(SECOND, ONE, 17),
    },
    jobs={
        FIRST: {"instance_id": ONE, "scheduled_at": "2025-01-15T10:13:00.000Z"},
        SECOND: {
            "status": "in_progress",
            "instance_id": ONE,
            "scheduled_at": "2025-01-15T10:09:00.000Z",
            "pool_name": "small-arm64",
        },
    },
    machines={ONE: {"status": "active", "job_id": SECOND, "intended_job_id": SECOND, "taken_at": None}},
)
