"""Publications that are repeated late, read their own writes, or meet a change of their package."""

import pytest
from runledger.model.packages import LineKey, Package, Publication, PublishedBy
from runledger.tables import schema

from tests.releases.rebuild_scenes import BASE, REBUILDS, SCOPE, TABLE, ReleaseWorld, advance_all, released, scene_of
from tests.simulation.explore import interleavings, play
from tests.simulation.world import Process


def npm(version: str, *, at: str, **dependencies: str) -> Publication:
    return Publication(
        installation_id=SCOPE,
        repo_full_name="acme/lib",
        published_by=PublishedBy.REGISTRY_PACKAGE,
        published_at=at,
        package_name="lib",
        package_version=version,
        ecosystem="npm",
        dependencies=dependencies,
    )


def test_a_version_that_is_published_again_after_its_line_has_expired_is_not_rebuilt(world: ReleaseWorld) -> None:
    """Tags are moved, and jobs that publish through the API are re-run, at any time."""
    scene = released(world)
    before = world.dispatches()
    for pk, sk in list(world.engine.snapshot().items[TABLE]):
        item = world.engine.get_item(TableName=TABLE, Key={"PK": {"S": pk}, "SK": {"S": sk}})["Item"]
        if schema.EXPIRY in item:
            world.engine.delete_item(TableName=TABLE, Key={"PK": {"S": pk}, "SK": {"S": sk}})
    scene.publish()
    play(world, {"rebuilds": advance_all})
    assert world.dispatches() == before
    assert scene.table.get(BASE) is None


def test_a_package_is_published_although_reads_lag_behind_its_creation(world: ReleaseWorld) -> None:
    world.engine.lag = lambda _operation, _table: 3
    published = world.scene().publications.publish(npm("1.0.0", at=world.clock.text(), ui="*"))
    assert published == [LineKey(SCOPE, "lib", "1.0.0")]


def test_a_dependent_that_was_just_saved_is_in_the_plan(world: ReleaseWorld) -> None:
    scene = world.scene()
    scene.package("docs", base="*")
    world.engine.lag = lambda _operation, _table: 3
    scene.publish()
    assert set(scene.statuses()) == {"api", "app", "docs", "ui"}


def test_a_package_that_is_saved_during_a_publication_keeps_its_workflow(world: ReleaseWorld) -> None:
    scene = world.scene()
    scene.publications.publish(npm("1.0.0", at=world.clock.text()))

    def publish(process: Process) -> None:
        scene_of(process).publications.publish(npm("1.1.0", at=world.clock.text(), ui="^3.0.0"))

    def save(process: Process) -> None:
        package = Package(
            installation_id=SCOPE,
            name="lib",
            repo_full_name="acme/lib",
            published_by=PublishedBy.REGISTRY_PACKAGE,
            workflow="release.yml",
        )
        scene_of(process).packages.save(package, at=world.clock.text())

    plays = 0
    for outcome in interleavings(world, publish, save, preemptions=2):
        plays += 1
        found = world.scene().packages.get(SCOPE, "lib") or {}
        assert found.get("workflow") == "release.yml", outcome.story()
    assert plays > 20


def test_a_repeated_publication_sends_its_line_again(world: ReleaseWorld) -> None:
    """A message that became a dead letter is replaced by publishing the version again."""
    scene = world.scene()
    scene.publish()
    assert world.queues.take(REBUILDS)
    scene.publish()
    assert world.queues.take(REBUILDS)


@pytest.mark.parametrize(("minutes", "joins"), [(14, True), (16, False)])
def test_a_version_joins_the_line_of_its_rebuild_only_soon_after_it_has_ended(
    world: ReleaseWorld, minutes: int, joins: bool
) -> None:
    scene = released(world)
    scene.run("ui", run_id=1002, conclusion="success")
    world.clock.advance(minutes * 60)
    scene.publish("ui", "3.1.0")
    joined = (scene.table.dependent(BASE, "ui") or {}).get("dependent_version")
    assert (joined == "3.1.0", scene.table.get(LineKey(SCOPE, "ui", "3.1.0")) is None) == (joins, joins)
