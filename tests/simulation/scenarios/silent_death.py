"""A machine that no launcher reported dies under its job without a warning, and the job's webhook is late."""

from tests.simulation.machine_inputs import FIRST, ONE, completed, queued, started, state
from tests.simulation.scenario import Scenario

SCENARIO = Scenario(
    inputs={
        "queued": queued(FIRST),
        "running": state(ONE, "running", 1),
        "started": started(FIRST, ONE, 2),
        "shutting down": state(ONE, "shutting-down", 4),
        "terminated": state(ONE, "terminated", 6),
        "completed": completed(FIRST, ONE, 2, 5, conclusion="failure"),
    },
    jobs={
        FIRST: {
            "instance_id": ONE,
            "was_interrupted": True,
            "terminated_at": "2025-01-15T10:04:00.000Z",
            "scheduled_at": "2025-01-15T10:00:30.000Z",
        }
    },
    machines={ONE: {"status": "cleaned", "job_id": FIRST, "terminated_reason": "shutting-down"}},
)
