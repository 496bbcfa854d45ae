"""A machine is stopped after its job, started again, and serves the next one."""

from tests.simulation.machine_inputs import FIRST, ONE, SECOND, completed, queued, scheduled, started, state
from tests.simulation.scenario import Scenario

SCENARIO = Scenario(
    inputs={
        "queued 1": queued(FIRST),
        "scheduled 1": scheduled(FIRST, ONE, 1),
        "started 1": started(FIRST, ONE, 2),
        "completed 1": completed(FIRST, ONE, 2, 10),
        "stopping": state(ONE, "stopping", 12),
        "running again": state(ONE, "running", 31),
        "scheduled 2": scheduled(SECOND, ONE, 30),
        "completed 2": completed(SECOND, ONE, 32, 40, created=29, conclusion="failure"),
    },
    jobs={
        FIRST: {"instance_id": ONE, "terminated_at": "2025-01-15T10:12:00.000Z", "was_interrupted": None},
        SECOND: {"instance_id": ONE, "terminated_at": None, "was_interrupted": None},
    },
    machines={ONE: {"status": "active", "job_id": SECOND, "attached_at": "2025-01-15T10:31:00.000Z"}},
)
