"""A job is rescheduled because its first machine gets a warning. The warning is not about the second machine."""

from tests.simulation.machine_inputs import (
    FIRST,
    ONE,
    OTHER,
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
        "queued": queued(FIRST),
        "scheduled": scheduled(FIRST, ONE, 1),
        "warning": warned(ONE, 2),
        "rescheduled": scheduled(FIRST, OTHER, 3, again=True, runner_name=None),
        "first machine dies": state(ONE, "terminated", 4),
        "started": started(FIRST, OTHER, 5),
        "completed": completed(FIRST, OTHER, 5, 10, conclusion="failure"),
    },
    jobs={
        FIRST: {
            "instance_id": OTHER,
            "runner_name": f"runner-{OTHER}",
            "scheduled_at": "2025-01-15T10:03:00.000Z",
            "interrupted_at": None,
            "terminated_at": None,
            "was_interrupted": None,
        }
    },
)
