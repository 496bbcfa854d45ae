"""A runner that was launched for one job takes another, and dies under it. The first job never starts."""

from tests.simulation.machine_inputs import (
    FIRST,
    ONE,
    SECOND,
    completed,
    queued,
    scheduled,
    started,
    state,
    warned,
)
from tests.simulation.scenario import Scenario

SCENARIO = Scenario(
    inputs={
        "queued 1": queued(FIRST),
        "queued 2": queued(SECOND),
        "scheduled 1": scheduled(FIRST, ONE, 1),
        "started 2": started(SECOND, ONE, 3),
        "warning": warned(ONE, 5),
        "shutting down": state(ONE, "shutting-down", 7),
        "completed 2": completed(SECOND, ONE, 3, 8, conclusion="failure"),
    },
    jobs={
        FIRST: {"status": "queued", "instance_id": None, "interrupted_at": None, "was_interrupted": None},
        SECOND: {
            "instance_id": ONE,
            "was_interrupted": True,
            "pool_name": "small-arm64",
            "instance_lifecycle": "spot",
            "scheduled_at": "2025-01-15T10:03:00.000Z",
        },
    },
    machines={ONE: {"status": "cleaned", "job_id": SECOND, "intended_job_id": FIRST}},
)
