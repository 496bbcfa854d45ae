"""Rebuilds of dependents: neither loops nor replays nor hostile ranges start workflows without end, or stop others."""

from dataclasses import replace

import pytest
from runledger.model import times
from runledger.model.packages import LineKey, Package, Publication, PublishedBy
from runledger.releases import publications, rebuilds, versions

from tests.releases.rebuild_scenes import BASE, SCOPE, TABLE, ReleaseWorld, Scene, advance_all, publication
from tests.simulation.explore import play

MONOREPO = "acme/mono"
RANGES_THAT_ARE_NONE = ("a - b", "1 - ", "~>v - -1/..||x", "workspace: - ", "9" * 200, "1.2.3-" + "a." * 90)


@pytest.fixture
def world() -> ReleaseWorld:
    return ReleaseWorld()


def in_monorepo(scene: Scene, name: str, **dependencies: str) -> None:
    package = Package(
        installation_id=SCOPE,
        name=name,
        repo_full_name=MONOREPO,
        published_by=PublishedBy.TAG,
        workflow="release.yml",
        dependencies=dependencies,
    )
    scene.packages.save(package, at=scene.clock.text())


def publish_monorepo(scene: Scene, version: str) -> None:
    """All of its packages, as its release workflow does."""
    scene.publications.publish(
        Publication(
            installation_id=SCOPE,
            repo_full_name=MONOREPO,
            published_by=PublishedBy.TAG,
            published_at=scene.clock.text(),
            tag=f"v{version}",
        )
    )


def test_a_rebuild_that_publishes_its_own_cause_does_not_loop(world: ReleaseWorld) -> None:
    scene = world.scene()
    in_monorepo(scene, "core")
    in_monorepo(scene, "kit", core="*")
    publish_monorepo(scene, "1.0.0")
    play(world, {"rebuilds": advance_all})
    for number in range(1, 12):
        publish_monorepo(scene, f"1.0.{number}")
        scene.run("mono", run_id=1000 + number, conclusion="success")
        play(world, {"rebuilds": advance_all})
    assert world.dispatches() == ["mono"] * publications.MOST_REPEATS
    last = scene.line(LineKey(SCOPE, "core", f"1.0.{publications.MOST_REPEATS}"))
    assert last["status"] == "refused"
    assert last["message"].endswith("core → core → core → core")


def test_two_releases_in_a_row_are_both_rebuilt(world: ReleaseWorld) -> None:
    scene = world.scene()
    in_monorepo(scene, "core")
    in_monorepo(scene, "kit", core="*")
    for version in ("1.0.0", "1.0.1"):
        publish_monorepo(scene, version)
        play(world, {"rebuilds": advance_all})
    assert world.dispatches() == ["mono", "mono"]


def test_a_replay_after_the_line_has_expired_rebuilds_nothing(world: ReleaseWorld) -> None:
    scene = world.scene()
    published = publication("base", "1.1.0", at=scene.clock.text())
    scene.publications.publish(published)
    play(world, {"rebuilds": advance_all})
    before = world.dispatches()
    world.clock.advance(91 * times.SECONDS_PER_DAY)
    for item in world.engine.scan(TableName=TABLE)["Items"]:
        if "ttl" in item:
            world.engine.delete_item(TableName=TABLE, Key={name: item[name] for name in ("PK", "SK")})
    scene.publications.publish(published)
    play(world, {"rebuilds": advance_all})
    assert world.dispatches() == before
    assert scene.table.get(BASE) is None


def test_an_installation_has_a_limit_of_dispatches_in_an_hour(
    world: ReleaseWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rebuilds, "MOST_PER_HOUR", 3)
    scene = world.scene()
    for version in ("1.1.0", "1.2.0", "1.3.0"):
        scene.publish(version=version)
        play(world, {"rebuilds": advance_all})
    assert len(world.dispatches()) == 3
    assert scene.statuses(LineKey(SCOPE, "base", "1.3.0")) == {"api": "failed", "ui": "failed", "app": "blocked"}
    world.clock.advance(times.SECONDS_PER_DAY // 24)
    scene.publish(version="1.4.0")
    play(world, {"rebuilds": advance_all})
    assert len(world.dispatches()) == 5


@pytest.mark.parametrize("wanted", RANGES_THAT_ARE_NONE)
def test_a_dependent_with_a_hostile_range_stops_no_release_of_its_dependency(world: ReleaseWorld, wanted: str) -> None:
    scene = world.scene()
    scene.package("hostile", base=wanted)
    scene.publish()
    assert set(scene.statuses()) == {"api", "ui", "app"}
    assert not versions.includes(wanted, "1.1.0")


def test_thousands_of_dependents_are_refused_before_they_are_read(
    world: ReleaseWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runledger.releases.graph.MOST_EDGES", 5)
    scene = world.scene()
    for number in range(6):
        scene.package(f"dependent-{number}", base="^9.0.0")
    monkeypatch.setattr(world.engine, "batch_get_item", pytest.fail)
    by_tag = publication("base", "1.1.0", at=scene.clock.text())
    named = replace(by_tag, tag=None, package_name="base", package_version="1.1.0")
    scene.publications.publish(replace(named, published_by=PublishedBy.API))
    assert scene.line()["message"] == "More than 5 dependencies lead to this package"
