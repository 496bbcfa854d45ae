"""Release lines go on by themselves: after a process that died, and if two rebuilds claim the same run."""

from tests.releases.rebuild_scenes import BASE, REBUILDS, SCOPE, ReleaseWorld, advance_all, released, scene_of
from tests.simulation.explore import killed, play
from tests.simulation.world import Process

LATER = BASE._replace(version="1.2.0")


def test_a_claim_of_a_dead_process_is_looked_at_again_when_it_is_stale(world: ReleaseWorld) -> None:
    """The queue may deliver the message again before the claim is stale, and no other message would follow."""
    world.scene().publish()
    world.queues.take(REBUILDS)

    def advance(process: Process) -> None:
        scene_of(process).rebuilds.advance(BASE)

    start, stuck = world.save(), 0
    for call in range(1, 100):
        world.restore(start)
        died, _ = killed(world, advance, call, 1)
        if not died:
            break
        stuck += "dispatching" in world.scene().statuses().values()
        world.clock.advance(60)
        play(world, {"again": advance})
        world.clock.advance(600)
        play(world, {"rebuilds": advance_all})
        assert "dispatching" not in world.scene().statuses().values(), f"after call {call}"
    assert stuck >= 2


def test_a_line_without_open_claims_sends_no_further_message(world: ReleaseWorld) -> None:
    scene = released(world)
    scene.rebuilds.advance(BASE)
    assert not world.queues.take(REBUILDS)


def unknown(world: ReleaseWorld) -> None:
    """The dispatch of ui for 1.1.0 may never have reached GitHub."""
    scene = world.scene()
    scene.package("api")
    scene.publish()
    scene.table.claim(BASE, "ui", owner="dead", at=world.clock.text(), workflow_id=55)
    scene.table.open_rebuild(BASE, "ui", repo_full_name="acme/ui", at=world.clock.text())
    world.clock.advance(600)
    play(world, {"rebuilds": advance_all})
    assert scene.statuses() == {"ui": "unknown", "app": "waiting"}


def test_a_run_belongs_to_a_known_dispatch_rather_than_to_an_unknown_one(world: ReleaseWorld) -> None:
    unknown(world)
    scene = world.scene(names_runs=False)
    scene.publish(version="1.2.0")
    play(world, {"rebuilds": lambda process: advance_all(process, names_runs=False)})
    assert scene.statuses(LATER)["ui"] == "dispatched"
    scene.run("ui", run_id=1001, conclusion="success")
    assert (scene.statuses(LATER)["ui"], scene.statuses()["ui"]) == ("succeeded", "unknown")


def test_a_run_ends_every_rebuild_that_has_it(world: ReleaseWorld) -> None:
    """Its webhook may arrive before the response of the dispatch is stored, and be taken for that of an older claim."""
    scene = world.scene()
    scene.package("api")
    for line in (BASE, LATER):
        scene.publish(version=line.version)
        scene.table.open_rebuild(line, "ui", repo_full_name="acme/ui", at=world.clock.text())
        scene.table.claim(line, "ui", owner=line.version, at=world.clock.text(), workflow_id=55)
    scene.run("ui", run_id=1001)
    scene.table.confirm_run(LATER, "ui", owner="1.2.0", run={"run_id": 1001})
    scene.run("ui", run_id=1001, conclusion="success")
    assert (scene.statuses()["ui"], scene.statuses(LATER)["ui"]) == ("succeeded", "succeeded")


def test_a_version_that_joins_an_expired_line_writes_nothing(world: ReleaseWorld) -> None:
    before = world.engine.snapshot().items
    assert not world.scene().table.join(BASE, "ui", "3.0.0")
    assert world.engine.snapshot().items == before
    assert world.scene().table.dependent(BASE._replace(installation_id=SCOPE), "ui") is None


def test_a_response_that_arrives_after_its_claim_was_stale_is_stored(world: ReleaseWorld) -> None:
    unknown(world)
    scene = world.scene()
    scene.table.confirm_run(BASE, "ui", owner="dead", run={"run_id": 1001})
    found = scene.table.dependent(BASE, "ui") or {}
    assert (found["status"], found["run_id"], "message" in found) == ("dispatched", 1001, False)


def test_a_result_whose_process_died_before_it_sent_the_line_is_sent_by_the_repeated_batch(world: ReleaseWorld) -> None:
    released(world)

    def ended(process: Process) -> None:
        scene_of(process).run("ui", run_id=1002, conclusion="success")

    start, stored = world.save(), 0
    for call in range(1, 20):
        world.restore(start)
        died, _ = killed(world, ended, call, 0)
        if not died:
            break
        stored += world.scene().statuses()["ui"] == "succeeded"
        play(world, {"repeated": ended})
        play(world, {"rebuilds": advance_all})
        assert world.scene().statuses()["app"] == "dispatched", f"before call {call}"
    assert stored
