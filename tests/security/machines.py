"""Machines of the victim that attacks aim at: busy, idle and without an owner."""

from typing import Any

from tests.support.reconciler_scene import TAGGED, Scene, ago
from tests.support.webhooks import COMPLETED, IN_PROGRESS, REPO

OWNER = REPO.partition("/")[0]
DESCRIBED = ("instance_id", "instance_type", "pool_name", "scheduled_at", "price_per_hour")


def busy_machine(scene: Scene, *, launcher_reports: bool = True, tags: dict[str, str] | None = None) -> str:
    """The victim's, with a job that runs on it."""
    instance = scene.start_instance(TAGGED if tags is None else tags)
    name = f"runner--{instance}"
    if launcher_reports:
        scene.launch(1, instance)
    ran = {"started_at": ago(minutes=45), "runner_id": 9, "runner_name": name}
    scene.receive(IN_PROGRESS, 1, **ran)
    scene.on_github(1, "in_progress", **ran)
    scene.github.state.put("runners", 9, scope=REPO, name=name, busy=True)
    look_up(scene)
    return instance


def look_up(scene: Scene) -> None:
    for message in scene.world.waiting("lookups"):
        scene.world.invoke("runner_lookup", {"Records": [message]})


def reconcile(scene: Scene, times: int = 3) -> dict[str, Any]:
    for _ in range(times):
        response = scene.reconcile("full")
    return response


def idle_orphan(scene: Scene, tags: dict[str, str]) -> str:
    """Its job is over, and GitHub lists it as idle."""
    instance = scene.start_instance(TAGGED | tags)
    scene.launch(1, instance)
    name = f"runner--{instance}"
    scene.receive(COMPLETED, 1, started_at=ago(minutes=50), runner_id=9, runner_name=name, completed_at=ago(minutes=30))
    scene.github.state.put("runners", 9, scope=REPO, name=name)
    return instance


def ownerless(scene: Scene) -> str:
    """A machine with the tags of a runner that nothing else is known of."""
    scene.receive(COMPLETED, 1, completed_at=ago(minutes=30))
    return scene.start_instance()
