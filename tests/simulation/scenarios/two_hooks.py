"""An App and an organisation's own hook report the same job: the machine's events reach both copies."""

from tests.simulation.machine_inputs import FIRST, ONE, completed, queued, scheduled, started, state
from tests.simulation.scenario import Scenario
from tests.support.webhooks import INSTALLATION

HOOK = 0

SCENARIO = Scenario(
    inputs={
        "queued": queued(FIRST),
        "queued, hook": queued(FIRST, installation_id=HOOK),
        "scheduled": scheduled(FIRST, ONE, 1),
        "started": started(FIRST, ONE, 3),
        "started, hook": started(FIRST, ONE, 3, installation_id=HOOK),
        "dies": state(ONE, "shutting-down", 5),
        "completed": completed(FIRST, ONE, 3, 6, conclusion="failure"),
        "completed, hook": completed(FIRST, ONE, 3, 6, conclusion="failure", installation_id=HOOK),
    },
    jobs={
        (installation_id, FIRST): {
            "instance_id": ONE,
            "pool_name": "small-arm64",
            "was_interrupted": True,
            "scheduled_at": "2025-01-15T10:01:00.000Z",
        }
        for installation_id in (INSTALLATION, HOOK)
    },
    machines={ONE: {"installation_id": INSTALLATION, "job_id": FIRST, "status": "cleaned"}},
)
