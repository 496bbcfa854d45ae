"""A job runs on a machine that EC2 doesn't describe, which a launcher started for another job."""

from tests.simulation.machine_inputs import (
    ELSEWHERE,
    FIRST,
    SECOND,
    completed,
    queued,
    scheduled,
    started,
    state,
)
from tests.simulation.scenario import Scenario

SCENARIO = Scenario(
    inputs={
        "queued 1": queued(FIRST),
        "scheduled 1": scheduled(FIRST, ELSEWHERE, 1),
        "running": state(ELSEWHERE, "running", 2),
        "started 2": started(SECOND, ELSEWHERE, 3),
        "dies": state(ELSEWHERE, "terminated", 5),
        "completed 2": completed(SECOND, ELSEWHERE, 3, 6, conclusion="failure"),
    },
    jobs={
        FIRST: {"status": "queued", "instance_id": None},
        SECOND: {
            "instance_id": ELSEWHERE,
            "pool_name": "small-arm64",
            "was_interrupted": True,
            "scheduled_at": "2025-01-15T10:03:00.000Z",
        },
    },
    machines={ELSEWHERE: {"job_id": SECOND, "intended_job_id": FIRST, "status": "cleaned"}},
)
