"""Rebuilds of dependents: in order, at most once, whatever fails or is repeated."""

import pytest
from runledger.model.errors import NoResponseError, RateLimited, UnavailableError
from runledger.model.packages import LineKey
from runledger.model.releases import RebuildMode
from runledger.releases.lines import MOST_OPEN
from runledger_github.errors import OutOfTime

from tests.releases.rebuild_scenes import BASE, REBUILDS, ReleaseWorld, advance_all, refused, released, run_item
from tests.simulation.explore import play

LATER_SECONDS = 600


def test_dependents_are_dispatched_in_the_order_of_the_graph(world: ReleaseWorld) -> None:
    scene = released(world)
    assert scene.statuses() == {"api": "dispatched", "ui": "dispatched", "app": "waiting"}
    scene.run("ui", run_id=1002)
    scene.run("ui", run_id=1002, conclusion="success")
    play(world, {"rebuilds": advance_all})
    assert scene.statuses() == {"api": "dispatched", "ui": "succeeded", "app": "dispatched"}
    scene.run("api", run_id=1001, conclusion="success")
    scene.run("app", run_id=1003, conclusion="success")
    play(world, {"rebuilds": advance_all})
    assert world.dispatches() == ["api", "app", "ui"]
    line = scene.line()
    assert (line["status"], line["finished_dependents"], line["failed_dependents"]) == ("completed", 3, 0)
    assert line["completed_at"]


def test_a_failed_rebuild_blocks_what_depends_on_it(world: ReleaseWorld) -> None:
    scene = released(world)
    scene.run("ui", run_id=1002, conclusion="failure")
    scene.run("api", run_id=1001, conclusion="success")
    play(world, {"rebuilds": advance_all})
    assert scene.statuses() == {"api": "succeeded", "ui": "failed", "app": "blocked"}
    assert scene.line()["status"] == "failed"
    assert scene.line()["failed_dependents"] == 2
    assert world.dispatches() == ["api", "ui"]


def test_a_rerun_that_succeeds_continues_a_failed_line(world: ReleaseWorld) -> None:
    scene = released(world)
    scene.run("api", run_id=1001, conclusion="success")
    scene.run("ui", run_id=1002, conclusion="failure")
    play(world, {"rebuilds": advance_all})
    scene.run("ui", run_id=1002, conclusion="success", attempt=2)
    scene.run("ui", run_id=1002, conclusion="failure")  # late
    play(world, {"rebuilds": advance_all})
    assert scene.statuses() == {"api": "succeeded", "ui": "succeeded", "app": "dispatched"}
    assert scene.line()["status"] == "rebuilding"
    assert "completed_at" not in scene.line()


def test_nothing_is_dispatched_in_a_dry_run(world: ReleaseWorld) -> None:
    scene = world.scene(mode=RebuildMode.DRY_RUN)
    scene.publish()
    assert scene.line()["status"] == "planned"
    assert set(scene.statuses().values()) == {"planned"}
    assert world.queues.take(REBUILDS) == ()
    scene.rebuilds.advance(BASE)
    assert world.dispatches() == []


def test_a_cycle_is_refused_and_nothing_is_dispatched(world: ReleaseWorld) -> None:
    scene = world.scene()
    scene.package("ui", base="^1.0.0", app="*")
    scene.publish()
    line = scene.line()
    assert (line["status"], line["message"]) == ("refused", "The dependencies form a cycle: app → ui → app")
    scene.rebuilds.advance(BASE)
    assert world.dispatches() == []


def test_a_version_outside_the_range_rebuilds_nothing(world: ReleaseWorld) -> None:
    scene = world.scene()
    scene.publish(version="2.0.0")
    assert scene.line(LineKey(*BASE[:2], "2.0.0"))["status"] == "published"
    assert world.queues.take(REBUILDS) == ()


def test_a_dependent_without_a_workflow_is_skipped_with_what_depends_on_it(world: ReleaseWorld) -> None:
    scene = world.scene()
    scene.package("ui", workflow=None, base="^1.0.0")
    scene.publish()
    play(world, {"rebuilds": advance_all})
    assert scene.statuses() == {"api": "dispatched", "ui": "skipped"}


def test_a_refusal_is_final_and_has_the_reason(world: ReleaseWorld) -> None:
    scene = world.scene(refuses={"acme/ui": refused()})
    scene.publish()
    scene.rebuilds.advance(BASE)
    assert scene.statuses() == {"api": "dispatched", "ui": "failed", "app": "blocked"}
    message = (scene.table.dependent(BASE, "ui") or {})["message"]
    assert message.startswith("Workflow release.yml of acme/ui can't be dispatched: ")
    assert "workflow_dispatch" in message
    scene.rebuilds.advance(BASE)
    assert world.dispatches() == ["api"]


@pytest.mark.parametrize(
    "error", [RateLimited("installation 7", until=4e9), NoResponseError("never sent", repeatable=True), OutOfTime()]
)
def test_a_call_that_github_did_not_execute_is_made_later(world: ReleaseWorld, error: Exception) -> None:
    scene = world.scene(refuses={"acme/api": error})
    scene.publish()
    world.queues.take(REBUILDS)
    scene.rebuilds.advance(BASE)
    assert scene.statuses()["api"] == "waiting"
    assert len(world.queues.messages[REBUILDS]) == 1
    play(world, {"rebuilds": advance_all})
    assert world.dispatches() == ["api", "ui"]


class UnknownError(UnavailableError):
    """An error that doesn't state whether the call was executed."""


@pytest.mark.parametrize("error", [NoResponseError("timeout", repeatable=False), UnknownError(), UnavailableError()])
def test_a_lost_response_is_unknown_and_never_repeated(world: ReleaseWorld, error: Exception) -> None:
    scene = world.scene(refuses={"acme/ui": error})
    scene.publish()
    scene.rebuilds.advance(BASE)
    assert scene.statuses()["ui"] == "unknown"
    world.clock.advance(LATER_SECONDS)
    scene.publish()
    play(world, {"rebuilds": advance_all})
    assert world.dispatches() == ["api"]
    assert scene.line()["status"] == "rebuilding"


def test_a_dispatch_that_ends_in_an_unexpected_error_is_unknown_and_never_repeated(world: ReleaseWorld) -> None:
    scene = world.scene(refuses={"acme/ui": RuntimeError("not an error of the client")})
    scene.publish()
    with pytest.raises(RuntimeError):
        scene.rebuilds.advance(BASE)
    world.clock.advance(LATER_SECONDS)
    play(world, {"rebuilds": advance_all})
    assert scene.statuses()["ui"] == "unknown"
    assert world.dispatches() == ["api"]


def test_the_run_of_an_unknown_dispatch_is_found(world: ReleaseWorld) -> None:
    scene = world.scene(refuses={"acme/ui": NoResponseError("timeout", repeatable=False)})
    scene.publish()
    scene.rebuilds.advance(BASE)
    scene.run("ui", run_id=77)
    assert scene.statuses()["ui"] == "dispatched"
    scene.run("ui", run_id=78, conclusion="failure")  # started by hand
    scene.run("ui", run_id=77, conclusion="success")
    assert scene.statuses()["ui"] == "succeeded"


def test_runs_are_found_without_their_ids_in_the_order_of_the_dispatches(world: ReleaseWorld) -> None:
    scene = world.scene(names_runs=False)
    second = LineKey(*BASE[:2], "1.2.0")
    scene.run("ui", run_id=50)  # before the dispatch
    for line in (BASE, second):
        world.clock.advance(60)
        scene.publish(version=line.version)
        scene.rebuilds.advance(line)
    world.clock.advance(1)
    scene.run("ui", run_id=60)
    scene.run("ui", run_id=61)
    scene.run("ui", run_id=61, conclusion="failure")
    scene.run("ui", run_id=60, conclusion="success")
    assert scene.statuses()["ui"] == "succeeded"
    assert scene.statuses(second)["ui"] == "failed"


def test_the_run_of_an_early_rebuild_is_found_among_many_later_ones(world: ReleaseWorld) -> None:
    """Several packages of a repository are published at once, and each has its dependents there."""
    scene = released(world)
    began = world.clock.text()
    world.clock.advance(60)
    for number in range(MOST_OPEN + 1):
        line = LineKey(*BASE[:2], f"1.2.{number}")
        scene.table.open_rebuild(line, "ui", repo_full_name="acme/ui", at=world.clock.text())
    scene.lines.run_changed(run_item("ui", began, run_id=1002, conclusion="success"))
    assert scene.statuses()["ui"] == "succeeded"


def test_an_older_run_is_not_taken_for_that_of_the_dispatch(world: ReleaseWorld) -> None:
    scene = world.scene(names_runs=False)
    started = world.clock.text()
    world.clock.advance(60)
    scene.publish()
    scene.rebuilds.advance(BASE)
    scene.lines.run_changed(
        {
            "installation_id": 7,
            "run_id": 50,
            "run_attempt": 1,
            "repo_full_name": "acme/ui",
            "workflow_id": 55,
            "event": "workflow_dispatch",
            "status": "completed",
            "conclusion": "success",
            "created_at": started,
        }
    )
    assert scene.statuses()["ui"] == "dispatched"


def test_a_publication_of_a_rebuilt_dependent_joins_the_line(world: ReleaseWorld) -> None:
    scene = released(world)
    world.clock.advance(30)
    scene.publish("ui", "3.0.1")
    assert (scene.table.dependent(BASE, "ui") or {})["dependent_version"] == "3.0.1"
    assert scene.table.get(LineKey(7, "ui", "3.0.1")) is None
    world.clock.advance(24 * 3600)
    scene.publish("ui", "3.0.2")  # a day later, and not by the rebuild
    assert scene.line(LineKey(7, "ui", "3.0.2"))["status"] == "rebuilding"
