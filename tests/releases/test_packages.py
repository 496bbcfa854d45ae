"""Packages and their edges: replaced as a whole, whatever crashes or meets; and which tags publish which package."""

from typing import Any

import pytest
from runledger.model.packages import LineKey, Package, Publication, PublishedBy
from runledger.releases import tags

from tests.releases.rebuild_scenes import SCOPE, ReleaseWorld, Scene, scene_of
from tests.simulation.explore import Flow, crash_points, interleavings, killed
from tests.simulation.world import Process


def edges(scene: Scene) -> dict[str, list[str]]:
    return {name: scene.packages.dependents(SCOPE, name) for name in ("base", "ui", "api")}


def test_removing_a_dependency_removes_its_edge(world: ReleaseWorld) -> None:
    scene = world.scene()
    scene.package("app", api="*")
    assert edges(scene) == {"base": ["api", "ui"], "ui": [], "api": ["app"]}


def test_a_package_keeps_its_latest_version_when_it_is_saved(world: ReleaseWorld) -> None:
    scene = world.scene()
    scene.publish("base", "1.1.0")
    scene.package("base")
    assert (scene.packages.get(SCOPE, "base") or {})["version"] == "1.1.0"


def saving(**dependencies: str) -> Flow:
    def flow(process: Process) -> None:
        scene_of(process).package("app", **dependencies)

    return flow


def test_a_crash_at_any_call_is_repaired_by_the_repeated_request(world: ReleaseWorld) -> None:
    plays = 0
    for outcome in crash_points(world, saving(api="*", base="^1.0.0")):
        plays += 1
        assert edges(world.scene()) == {"base": ["api", "app", "ui"], "ui": [], "api": ["app"]}, outcome.story()
        assert (world.scene().packages.get(SCOPE, "app") or {})["edges"] == ["api", "base"], outcome.story()
    assert plays > 10


def test_two_requests_leave_the_edges_of_the_last_one(world: ReleaseWorld) -> None:
    plays = 0
    for outcome in interleavings(world, saving(api="*"), saving(ui="^3.0.0"), preemptions=2):
        plays += 1
        scene = world.scene()
        stored = (scene.packages.get(SCOPE, "app") or {})["dependencies"]
        found = {name for name, dependents in edges(scene).items() if "app" in dependents}
        assert found == set(stored), outcome.story()
    assert plays > 30


def test_an_edge_without_its_dependency_is_ignored(world: ReleaseWorld) -> None:
    scene = world.scene()
    key = {"PK": {"S": f"{SCOPE}#dependents#base"}, "SK": {"S": "app"}}
    world.engine.put_item(TableName="releases", Item=key | {"name": {"S": "app"}, "range": {"S": "*"}})
    scene.publish()
    assert scene.table.dependent(LineKey(SCOPE, "base", "1.1.0"), "app")  # through ui
    assert (scene.table.dependent(LineKey(SCOPE, "base", "1.1.0"), "app") or {})["depends_on"] == ["ui"]


def test_a_package_that_moves_is_published_by_its_new_repository_only(world: ReleaseWorld) -> None:
    scene = world.scene()
    moved = Package(
        installation_id=SCOPE, name="base", repo_full_name="acme/core", published_by=PublishedBy.TAG, workflow="x.yml"
    )
    scene.packages.save(moved, at=world.clock.text())
    assert scene.packages.of_repository(SCOPE, "acme/base") == []
    assert scene.publish("base", "1.1.0") == []
    assert scene.publish("core", "1.1.0") == [LineKey(SCOPE, "base", "1.1.0")]


@pytest.mark.parametrize(
    ("tag", "names", "expected"),
    [
        ("v1.2.3", ["ui"], {"ui": "1.2.3"}),
        ("1.2.3", ["ui", "api"], {"ui": "1.2.3", "api": "1.2.3"}),
        ("@acme/ui@1.2.3", ["@acme/ui", "@acme/api"], {"@acme/ui": "1.2.3"}),
        ("ui-v1.2.3", ["@acme/ui", "@acme/api"], {"@acme/ui": "1.2.3"}),
        ("ui/v1.2.3", ["@acme/ui"], {"@acme/ui": "1.2.3"}),
        ("ui-kit-v1.0.0", ["ui", "ui-kit"], {"ui-kit": "1.0.0"}),
        ("other-v1.2.3", ["ui"], {}),
        ("latest", ["ui"], {}),
        ("v", ["ui"], {}),
        ("", ["ui"], {}),
        ("v1/../..", ["ui"], {}),
        ("1" * 101, ["ui"], {}),
        ("2024.10.01", ["ui"], {"ui": "2024.10.01"}),
    ],
)
def test_a_tag_publishes_the_packages_that_it_names(tag: str, names: list[str], expected: dict[str, str]) -> None:
    assert tags.published_versions(tag, names) == expected


def of_npm(scene: Scene, name: str, version: str, **values: Any) -> list[LineKey]:
    publication = Publication(
        installation_id=SCOPE,
        repo_full_name=values.pop("repo", "acme/web"),
        published_by=PublishedBy.REGISTRY_PACKAGE,
        published_at=scene.clock.text(),
        package_name=name,
        package_version=version,
        ecosystem=values.pop("ecosystem", "npm"),
        **values,
    )
    return scene.publications.publish(publication)


def test_a_package_of_npm_needs_no_registration(world: ReleaseWorld) -> None:
    scene = world.scene()
    found = of_npm(scene, "@acme/web", "1.0.0", dependencies={"base": "^1.0.0", "é": "1", "@acme/web": "1"})
    assert found == [LineKey(SCOPE, "@acme/web", "1.0.0")]
    stored = scene.packages.get(SCOPE, "@acme/web") or {}
    assert stored["dependencies"] == {"base": "^1.0.0"}
    assert (stored["version"], stored["published_by"]) == ("1.0.0", "registry_package")
    of_npm(scene, "@acme/web", "1.1.0", dependencies={"ui": "^3.0.0"})
    assert edges(scene) == {"base": ["api", "ui"], "ui": ["@acme/web", "app"], "api": []}


def test_an_older_version_changes_neither_the_latest_one_nor_the_dependencies(world: ReleaseWorld) -> None:
    scene = world.scene()
    of_npm(scene, "@acme/web", "2.0.0", dependencies={"ui": "*"})
    of_npm(scene, "@acme/web", "1.0.0", dependencies={"base": "*"})
    of_npm(scene, "@acme/web", "1.0.1", dependencies={"base": "*"})
    stored = scene.packages.get(SCOPE, "@acme/web") or {}
    assert (stored["version"], stored["dependencies"]) == ("2.0.0", {"ui": "*"})
    assert (scene.packages.version(SCOPE, "@acme/web", "1.0.1") or {})["previous_version"] == "1.0.0"


def test_a_repository_cannot_publish_the_package_of_another(world: ReleaseWorld) -> None:
    scene = world.scene()
    of_npm(scene, "@acme/web", "1.0.0")
    assert of_npm(scene, "@acme/web", "9.9.9", repo="acme/evil") == []
    assert of_npm(scene, "base", "9.9.9", repo="acme/base") == []  # it is published by tags
    assert (scene.packages.get(SCOPE, "@acme/web") or {})["version"] == "1.0.0"


@pytest.mark.parametrize(("name", "version"), [("../x", "1"), ("x" * 215, "1"), ("@acme/ok", "1 0"), ("ok", "#")])
def test_names_and_versions_that_are_not_valid_publish_nothing(world: ReleaseWorld, name: str, version: str) -> None:
    assert of_npm(world.scene(), name, version) == []


def test_a_version_of_another_ecosystem_needs_a_registered_package(world: ReleaseWorld) -> None:
    assert of_npm(world.scene(), "api", "sha256-1", ecosystem="container") == []


def test_an_edge_of_a_process_that_died_is_not_shown(world: ReleaseWorld) -> None:
    shown = {"api": [], "ui": [{"name": "app", "range": "^3.0.0"}]}
    start, left_over = world.save(), 0
    for call in range(1, 20):
        world.restore(start)
        died, _ = killed(world, saving(api="*", ui="^4.0.0"), call, 1)
        if not died:
            break
        packages = world.scene().packages
        if (packages.get(SCOPE, "app") or {})["dependencies"] == {"ui": "^3.0.0"}:
            left_over += bool(packages.dependents(SCOPE, "api"))
            assert {name: packages.edges(SCOPE, name, limit=10) for name in shown} == shown, f"after call {call}"
    assert left_over
