"""A job is rescheduled, but its first machine runs it, gets a warning and dies. A plan may take it away for a while."""

from decimal import Decimal

from tests.simulation.machine_inputs import FIRST, ONE, OTHER, completed, queued, scheduled, started, state, warned
from tests.simulation.scenario import Scenario

SCENARIO = Scenario(
    inputs={
        "queued": queued(FIRST),
        "scheduled": scheduled(FIRST, ONE, 1),
        "rescheduled": scheduled(FIRST, OTHER, 2, again=True, price_per_hour=0.5),
        "started": started(FIRST, ONE, 3),
        "warning": warned(ONE, 5),
        "shutting down": state(ONE, "shutting-down", 7),
        "completed": completed(FIRST, ONE, 3, 8, conclusion="failure"),
    },
    jobs={
        FIRST: {
            "instance_id": ONE,
            "price_per_hour": Decimal("0.0335"),
            "scheduled_at": "2025-01-15T10:01:00.000Z",
            "interrupted_at": "2025-01-15T10:05:00.000Z",
            "terminated_at": "2025-01-15T10:07:00.000Z",
            "was_interrupted": True,
        }
    },
    machines={ONE: {"job_id": FIRST, "status": "cleaned"}, OTHER: {"intended_job_id": FIRST}},
    runs={1: {"cut_short_job_ids": {FIRST}}},
)
