"""The planned machine is stopped and started again before its job begins, and dies under the job."""

from tests.simulation.machine_inputs import FIRST, ONE, completed, queued, scheduled, started, state, warned
from tests.simulation.scenario import Scenario

SCENARIO = Scenario(
    inputs={
        "queued": queued(FIRST),
        "scheduled": scheduled(FIRST, ONE, 7),
        "running": state(ONE, "running", 8),
        "stopping": state(ONE, "stopping", 9),
        "running again": state(ONE, "running", 11),
        "started": started(FIRST, ONE, 13),
        "warning": warned(ONE, 15),
        "shutting down": state(ONE, "shutting-down", 17),
        "completed": completed(FIRST, ONE, 13, 18, conclusion="failure"),
    },
    jobs={
        FIRST: {
            "instance_id": ONE,
            "scheduled_at": "2025-01-15T10:13:00.000Z",
            "interrupted_at": "2025-01-15T10:15:00.000Z",
            "terminated_at": "2025-01-15T10:17:00.000Z",
            "was_interrupted": True,
            "pool_name": "small-arm64",
        }
    },
    machines={ONE: {"status": "cleaned", "job_id": FIRST, "attached_at": "2025-01-15T10:11:00.000Z"}},
    runs={1: {"cut_short_job_ids": {FIRST}}},
)
