"""The planned machine is stopped and started again before its job begins. The job still runs there."""

from tests.simulation.machine_inputs import FIRST, ONE, queued, scheduled, started, state, warned
from tests.simulation.scenario import Scenario

SCENARIO = Scenario(
    inputs={
        "queued": queued(FIRST),
        "scheduled": scheduled(FIRST, ONE, 7),
        "warning": warned(ONE, 8),
        "stopping": state(ONE, "stopping", 9),
        "running again": state(ONE, "running", 11),
        "started": started(FIRST, ONE, 13),
    },
    jobs={FIRST: {"instance_id": ONE, "interrupted_at": None, "terminated_at": None, "was_interrupted": None}},
    machines={ONE: {"status": "active", "job_id": FIRST}},
)
