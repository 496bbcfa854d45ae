"""A machine is stopped under its job and started again. A warning of its second life is not about that job."""

from tests.simulation.machine_inputs import FIRST, ONE, completed, queued, scheduled, started, state, warned
from tests.simulation.scenario import Scenario

SCENARIO = Scenario(
    inputs={
        "queued": queued(FIRST),
        "scheduled": scheduled(FIRST, ONE, 7),
        "started": started(FIRST, ONE, 8),
        "stopping": state(ONE, "stopping", 9),
        "running again": state(ONE, "running", 11),
        "warning": warned(ONE, 15),
        "completed": completed(FIRST, ONE, 8, 16, conclusion="failure"),
    },
    jobs={
        FIRST: {
            "instance_id": ONE,
            "interrupted_at": None,
            "terminated_at": "2025-01-15T10:09:00.000Z",
            "was_interrupted": True,
        }
    },
    machines={ONE: {"status": "active", "job_id": None, "interrupted_at": "2025-01-15T10:15:00.000Z"}},
    runs={1: {"cut_short_job_ids": {FIRST}}},
)
