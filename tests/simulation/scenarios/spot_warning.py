"""A spot instance is warned, then terminated, under the job that it was launched for."""

from decimal import Decimal

from tests.simulation.machine_inputs import FIRST, ONE, completed, queued, scheduled, started, state, warned
from tests.simulation.scenario import Scenario

SCENARIO = Scenario(
    inputs={
        "queued": queued(FIRST),
        "scheduled": scheduled(FIRST, ONE, 1),
        "running": state(ONE, "running", 2),
        "started": started(FIRST, ONE, 3),
        "warning": warned(ONE, 5),
        "shutting down": state(ONE, "shutting-down", 7),
        "completed": completed(FIRST, ONE, 3, 8, conclusion="failure"),
    },
    jobs={
        FIRST: {
            "was_interrupted": True,
            "interrupted_at": "2025-01-15T10:05:00.000Z",
            "terminated_at": "2025-01-15T10:07:00.000Z",
            "scheduled_at": "2025-01-15T10:01:00.000Z",
            "price_per_hour": Decimal("0.0335"),
            "instance_type": "c7g.large",
            "internal_queue_duration_in_ms": 59_877,
        }
    },
    machines={ONE: {"status": "cleaned", "job_id": FIRST, "taken_at": None}},
)
