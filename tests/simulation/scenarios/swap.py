"""Two machines that were launched for two jobs each take the other's job."""

from decimal import Decimal

from tests.simulation.machine_inputs import FIRST, ONE, OTHER, SECOND, completed, scheduled, started
from tests.simulation.scenario import Scenario

SCENARIO = Scenario(
    inputs={
        "scheduled 1": scheduled(FIRST, ONE, 1, pool_name="small"),
        "scheduled 2": scheduled(SECOND, OTHER, 1, pool_name="large", price_per_hour=0.5),
        "started 1": started(FIRST, OTHER, 3),
        "started 2": started(SECOND, ONE, 4),
        "completed 1": completed(FIRST, OTHER, 3, 9),
        "completed 2": completed(SECOND, ONE, 4, 10),
    },
    jobs={
        FIRST: {
            "instance_id": OTHER,
            "pool_name": "large",
            "price_per_hour": Decimal("0.5"),
            "instance_lifecycle": "spot",
            "scheduled_at": "2025-01-15T10:03:00.000Z",
        },
        SECOND: {
            "instance_id": ONE,
            "pool_name": "small",
            "price_per_hour": Decimal("0.0335"),
            "instance_lifecycle": "spot",
            "scheduled_at": "2025-01-15T10:04:00.000Z",
        },
    },
    machines={ONE: {"job_id": SECOND, "intended_job_id": FIRST}, OTHER: {"job_id": FIRST, "intended_job_id": SECOND}},
)
