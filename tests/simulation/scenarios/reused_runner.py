"""A launcher schedules two jobs on one machine, one after the other, each with its own price."""

from decimal import Decimal

from tests.simulation.machine_inputs import FIRST, ONE, SECOND, completed, scheduled, started, state
from tests.simulation.scenario import Scenario

SCENARIO = Scenario(
    inputs={
        "running": state(ONE, "running", 1),
        "scheduled 1": scheduled(FIRST, ONE, 2),
        "started 1": started(FIRST, ONE, 3),
        "completed 1": completed(FIRST, ONE, 3, 10),
        "scheduled 2": scheduled(SECOND, ONE, 20, price_per_hour=0.5),
        "started 2": started(SECOND, ONE, 21, created=19),
        "dies": state(ONE, "shutting-down", 25),
    },
    jobs={
        FIRST: {
            "status": "completed",
            "instance_id": ONE,
            "was_interrupted": None,
            "price_per_hour": Decimal("0.0335"),
        },
        SECOND: {
            "status": "in_progress",
            "instance_id": ONE,
            "was_interrupted": True,
            "price_per_hour": Decimal("0.5"),
        },
    },
    machines={ONE: {"status": "cleaned", "job_id": SECOND, "intended_job_id": SECOND, "taken_at": None}},
)
