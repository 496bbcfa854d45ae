"""Builds: each variant is counted once, `completed` is final, and an older build never becomes the head."""

from itertools import permutations
from typing import Any

import pytest
from runledger.model.packages import BuildKey, VariantStatus
from runledger.releases.build_reports import Artifact, BuildReport
from runledger.releases.builds import Builds
from runledger.tables import schema
from runledger.tables.attributes import from_attributes
from runledger.tables.builds import BuildsTable

from tests.simulation.engine import Engine
from tests.simulation.explore import crash_points, interleavings
from tests.simulation.world import Process, World

SCOPE = 7
TABLE = schema.RELEASES.name
SHA = "a" * 64


class BuildWorld(World):
    def __init__(self) -> None:
        super().__init__()
        self.engine = Engine((schema.RELEASES,))
        self.engine.lag = self._lag
        self.services["dynamodb"] = self.engine

    def builds(self) -> Builds:
        return Builds(table=BuildsTable(self.engine, TABLE, retention_days=90), now=self.clock.text)  # type: ignore[arg-type]

    def report(self, *, version: str = "1.0.0", **values: Any) -> dict[str, Any]:
        self.clock.advance(1)
        return self.builds().report(SCOPE, report(version=version, **values))

    def head(self) -> dict[str, Any]:
        return self.builds().table.head(SCOPE, "ui", "prod") or {}


def report(
    *, version: str = "1.0.0", variant: str = "default", status: str = "completed", **values: Any
) -> BuildReport:
    return BuildReport(
        name="ui", version=version, environment="prod", status=VariantStatus(status), variant=variant, **values
    )


@pytest.fixture
def world() -> BuildWorld:
    return BuildWorld()


def test_a_build_without_variants_is_complete_with_one_report(world: BuildWorld) -> None:
    started = world.report(status="started")
    assert (started["status"], started["progress"], started["total_variants"]) == ("building", 0.0, 1)
    done = world.report()
    assert (done["status"], done["progress"], done["completed_variants"]) == ("completed", 1.0, 1)
    assert world.head()["version"] == "1.0.0"


def test_the_progress_of_a_build_is_unknown_until_its_variants_are_announced(world: BuildWorld) -> None:
    first = world.report(variant="de")
    assert (first["status"], first["progress"], first["total_variants"]) == ("building", None, None)
    assert world.report(variant="fr", variants=4)["progress"] == 0.5


@pytest.mark.parametrize("order", list(permutations([("de", "completed"), ("de", "failed"), ("en", "completed")])))
def test_contradictory_reports_end_alike_in_any_order(world: BuildWorld, order: list[tuple[str, str]]) -> None:
    for variant, status in [*order, *order]:
        found = world.report(variant=variant, status=status, variants=2)
    assert (found["status"], found["completed_variants"], found["failed_variants"]) == ("completed", 2, 0)
    assert found["error"] is False


def test_a_failed_variant_is_an_error_until_it_is_completed(world: BuildWorld) -> None:
    world.report(variant="de", variants=2)
    failed = world.report(variant="en", status="failed", message="disk full")
    assert (failed["status"], failed["error"], failed["progress"]) == ("failed", True, 0.5)
    assert "version" not in world.head()
    assert world.report(variant="en")["status"] == "completed"


def test_without_a_total_a_build_with_variants_is_not_complete(world: BuildWorld) -> None:
    assert world.report(variant="de")["status"] == "building"
    assert world.report(variant="en", variants=2)["status"] == "completed"


def test_a_smaller_total_is_ignored_and_a_complete_build_stays_complete(world: BuildWorld) -> None:
    world.report(variant="de", variants=2)
    assert world.report(variant="de", variants=1)["status"] == "building"
    assert world.report(variant="en", variants=2)["status"] == "completed"
    late = world.report(variant="fr", status="started", variants=9)
    assert (late["status"], late["total_variants"]) == ("completed", 2)


def test_a_build_that_takes_long_never_replaces_a_newer_head(world: BuildWorld) -> None:
    world.report(version="1.0.0")
    world.report(version="1.1.0", status="started")
    world.report(version="1.2.0")
    world.report(version="1.1.0")
    head = world.head()
    assert (head["version"], head["previous_version"]) == ("1.2.0", "1.1.0")
    assert head["rollback_versions"] == ["1.1.0", "1.0.0"]
    world.report(version="1.0.0")
    assert world.head() == head


def test_a_head_keeps_the_newest_builds_whatever_the_order_of_completion(world: BuildWorld) -> None:
    versions = [f"1.{number}.0" for number in range(8)]
    for version in versions:
        world.report(version=version, status="started")
    for version in versions[::-1]:
        world.report(version=version)
    assert world.head()["version"] == "1.7.0"
    assert world.head()["rollback_versions"] == ["1.6.0", "1.5.0", "1.4.0", "1.3.0", "1.2.0"]


def test_a_build_names_the_version_before_it(world: BuildWorld) -> None:
    world.report(version="1.0.0")
    assert world.report(version="1.1.0")["previous_version"] == "1.0.0"


def test_events_and_artifacts_are_kept_once(world: BuildWorld) -> None:
    artifact = Artifact(name="ui.tgz", sha256=SHA, url="https://cdn.example/ui.tgz", size=12)
    for _ in range(2):
        world.report(artifacts=(artifact,), run_id=9)
    table, build = world.builds().table, BuildKey(SCOPE, "ui", "prod", "1.0.0")
    (event,) = table.events(build, limit=10)
    assert (event["status"], event["variant"]) == ("completed", "default")
    (variant,) = table.variants(build, limit=10)
    assert variant["artifacts"] == [{"name": "ui.tgz", "sha256": SHA, "url": "https://cdn.example/ui.tgz", "size": 12}]
    (file,) = map(from_attributes, table.files(SCOPE, SHA, limit=10).items)
    assert (file["package"], file["version"], file["name"]) == ("ui", "1.0.0", "ui.tgz")


def test_a_crash_at_any_call_is_repaired_by_the_repeated_report(world: BuildWorld) -> None:
    world.report(version="0.9.0")

    def flow(process: Process) -> None:
        table = BuildsTable(process.world.client("dynamodb"), TABLE, retention_days=90)
        Builds(table=table, now=process.world.clock.text).report(SCOPE, report(run_id=9))

    plays = 0
    for outcome in crash_points(world, flow):
        plays += 1
        assert (world.head()["version"], world.head()["previous_version"]) == ("1.0.0", "0.9.0"), outcome.story()
        found = world.builds().table.get(BuildKey(SCOPE, "ui", "prod", "1.0.0")) or {}
        assert found["completed_variants"] == {"default"}, outcome.story()
        assert found["completed_at"], outcome.story()
    assert plays > 10


def test_the_last_two_variants_complete_the_build_however_they_meet(world: BuildWorld) -> None:
    def completes(variant: str) -> Any:
        def flow(process: Process) -> None:
            table = BuildsTable(process.world.client("dynamodb"), TABLE, retention_days=90)
            Builds(table=table, now=process.world.clock.text).report(SCOPE, report(variant=variant, variants=2))

        return flow

    plays = 0
    for outcome in interleavings(world, completes("de"), completes("en"), preemptions=2):
        plays += 1
        found = world.builds().table.get(BuildKey(SCOPE, "ui", "prod", "1.0.0")) or {}
        assert found["completed_variants"] == {"de", "en"}, outcome.story()
        assert found["status"] == "completed", outcome.story()
        assert world.head()["version"] == "1.0.0", outcome.story()
    assert plays > 10


def test_two_builds_that_complete_at_once_are_both_in_the_head(world: BuildWorld) -> None:
    world.report(version="1.0.0", status="started")
    world.report(version="1.1.0", status="started")

    def completes(version: str) -> Any:
        def flow(process: Process) -> None:
            table = BuildsTable(process.world.client("dynamodb"), TABLE, retention_days=90)
            Builds(table=table, now=process.world.clock.text).report(SCOPE, report(version=version))

        return flow

    for outcome in interleavings(world, completes("1.0.0"), completes("1.1.0"), preemptions=2):
        assert (world.head()["version"], world.head()["previous_version"]) == ("1.1.0", "1.0.0"), outcome.story()


def test_the_total_of_a_late_failure_counts(world: BuildWorld) -> None:
    """A variant is completed by its second try, and the report of its first one arrives last."""
    world.report(variant="de")
    world.report(variant="en")
    late = world.report(variant="en", variants=2, status="failed")
    assert (late["status"], late["completed_variants"], late["failed_variants"]) == ("completed", 2, 0)
