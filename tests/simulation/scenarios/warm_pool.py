"""A launcher plans a machine, and a warm one, which no launcher reported, runs the job."""

from tests.simulation.machine_inputs import FIRST, ONE, OTHER, completed, queued, scheduled, started, state
from tests.simulation.scenario import Scenario

SCENARIO = Scenario(
    inputs={
        "warm machine": state(OTHER, "running", 0),
        "queued": queued(FIRST, 1),
        "scheduled": scheduled(FIRST, ONE, 2),
        "started": started(FIRST, OTHER, 3, created=1),
        "planned machine dies": state(ONE, "terminated", 5),
        "completed": completed(FIRST, OTHER, 3, 10, created=1, conclusion="failure"),
    },
    jobs={
        FIRST: {
            "instance_id": OTHER,
            "instance_type": "t4g.small",
            "pool_name": "tagged",
            "terminated_at": None,
            "was_interrupted": None,
            "received_at": "2025-01-15T10:01:00.123Z",
        }
    },
    machines={OTHER: {"status": "active", "job_id": FIRST}, ONE: {"status": "cleaned"}},
)
