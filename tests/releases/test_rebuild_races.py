"""Rebuilds when processes die, calls fail and consumers meet: no workflow is dispatched twice."""

from tests.releases.rebuild_scenes import BASE, REBUILDS, ReleaseWorld, advance_all, released, scene_of
from tests.simulation.explore import Flow, crash_points, fault_points, interleavings, play
from tests.simulation.world import Process

LATER_SECONDS = 600
SENT_AGAIN = "put_events -> ok [took effect, its response was lost, and the SDK sent it again]"


def test_a_crash_at_any_call_dispatches_nothing_twice(world: ReleaseWorld) -> None:
    def flow(process: Process) -> None:
        scene_of(process).publish()
        advance_all(process)

    def recover(process: Process) -> None:
        """The queues deliver again what wasn't finished, after the claim of the dead process is stale."""
        process.world.clock.advance(LATER_SECONDS)
        scene = scene_of(process)
        scene.publish()
        scene.rebuilds.advance(BASE)
        advance_all(process)

    plays = 0
    for outcome in crash_points(world, flow, recover=recover):
        plays += 1
        check(world, outcome.story())
    assert plays > 60


def test_a_fault_at_any_call_dispatches_nothing_twice(world: ReleaseWorld) -> None:
    def flow(process: Process) -> None:
        scene_of(process).publish()
        advance_all(process)

    def recover(process: Process) -> None:
        process.world.clock.advance(LATER_SECONDS)
        scene = scene_of(process)
        scene.publish()
        scene.rebuilds.advance(BASE)
        advance_all(process)

    plays = 0
    for outcome in fault_points(world, flow, recover=recover):
        if SENT_AGAIN in outcome.story():
            continue  # GitHub's client isn't an SDK of AWS: it sends a dispatch once
        plays += 1
        check(world, outcome.story())
    assert plays > 100


def check(world: ReleaseWorld, story: str) -> None:
    """Each dependent is dispatched once, or it is unknown whether it was."""
    scene = world.scene()
    dispatched, statuses = world.dispatches(), scene.statuses()
    assert len(dispatched) == len(set(dispatched)), story
    for name in ("api", "ui"):
        assert statuses[name] in ("dispatched", "unknown"), story
        assert statuses[name] == "unknown" or name in dispatched, story
    assert statuses["app"] == "waiting", story
    assert scene.line()["total_dependents"] == 3, story


def test_two_consumers_of_the_same_line_dispatch_once(world: ReleaseWorld) -> None:
    world.scene().publish()
    world.queues.take(REBUILDS)

    def advance(process: Process) -> None:
        scene_of(process).rebuilds.advance(BASE)

    plays = 0
    for outcome in interleavings(world, advance, advance, preemptions=2):
        plays += 1
        assert world.dispatches() == ["api", "ui"], outcome.story()
        assert world.scene().statuses() == {"api": "dispatched", "ui": "dispatched", "app": "waiting"}, outcome.story()
    assert plays > 100


def test_two_deliveries_of_a_publication_make_one_line(world: ReleaseWorld) -> None:
    def publish(process: Process) -> None:
        scene_of(process).publish()

    for outcome in interleavings(world, publish, publish, preemptions=2, limit=300):
        assert set(world.scene().statuses()) == {"api", "ui", "app"}, outcome.story()
        assert world.scene().line()["total_dependents"] == 3, outcome.story()


def test_a_line_ends_however_the_results_of_its_runs_meet(world: ReleaseWorld) -> None:
    world.scene().package("app")  # depends on nothing any more
    released(world)
    plays, flows = 0, (ended("ui", 1002, "success"), ended("api", 1001, "failure"))
    for outcome in interleavings(world, *flows, preemptions=2):
        plays += 1
        line = world.scene().line()
        found = (line["status"], line["finished_dependents"], line["failed_dependents"])
        assert found == ("failed", 2, 1), outcome.story()
    assert plays > 30


def ended(repo: str, run_id: int, conclusion: str) -> Flow:
    def flow(process: Process) -> None:
        scene = scene_of(process)
        scene.run(repo, run_id=run_id, conclusion=conclusion)
        scene.rebuilds.advance(BASE)

    return flow


def test_a_result_that_meets_its_own_dispatch_is_kept(world: ReleaseWorld) -> None:
    """The webhooks of a short run may arrive before the response of the dispatch is stored."""
    scene = world.scene()
    scene.package("ui")
    scene.package("app")
    scene.publish()
    world.queues.take(REBUILDS)

    def advance(process: Process) -> None:
        scene_of(process).rebuilds.advance(BASE)

    def run(process: Process) -> None:
        mine = scene_of(process)
        if process.world.bus.entries:
            mine.run("api", run_id=1001, conclusion="success")

    for outcome in interleavings(world, advance, run, preemptions=2):
        play(world, {"again": run})
        assert world.scene().statuses() == {"api": "succeeded"}, outcome.story()
