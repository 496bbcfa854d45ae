"""Builds are reported before their version is published. The artifacts of a completed variant are final."""

from contextlib import suppress
from typing import Any

import pytest
from runledger.model.errors import Contradiction
from runledger.model.packages import BuildKey
from runledger.releases.build_reports import Artifact
from runledger.releases.builds import Builds
from runledger.tables.attributes import from_attributes
from runledger.tables.builds import BuildsTable

from tests.api.client import Client
from tests.releases.api_scene import HERE, api, client, ledger, put, world
from tests.releases.test_builds import SCOPE, SHA, TABLE, BuildWorld, report
from tests.simulation.explore import interleavings
from tests.simulation.world import Process

__all__ = ["api", "client", "ledger", "world"]

OTHER_SHA = "b" * 64
ARTIFACT, OTHER = (Artifact(name="ui.tgz", sha256=each) for each in (SHA, OTHER_SHA))
BODY = {"environment": "production", "status": "completed"}


@pytest.fixture
def builds() -> BuildWorld:
    return BuildWorld()


def variant(builds: BuildWorld) -> dict[str, Any]:
    (found,) = builds.builds().table.variants(BuildKey(SCOPE, "ui", "prod", "1.0.0"), limit=10)
    return found


def fingerprints(builds: BuildWorld) -> list[str]:
    return [each["sha256"] for each in variant(builds)["artifacts"]]


def files(builds: BuildWorld, sha256: str) -> list[str]:
    found = builds.builds().table.files(SCOPE, sha256, limit=10).items
    return [str(from_attributes(each)["name"]) for each in found]


def test_another_fingerprint_is_refused_and_writes_nothing(builds: BuildWorld) -> None:
    builds.report(artifacts=(ARTIFACT,))
    before = builds.engine.snapshot()
    with pytest.raises(Contradiction, match=r"default of ui 1\.0\.0 is completed with other artifacts"):
        builds.report(artifacts=(OTHER,))
    assert builds.engine.snapshot() == before


def test_a_report_without_artifacts_keeps_them(builds: BuildWorld) -> None:
    builds.report(artifacts=(ARTIFACT,))
    builds.report()
    assert fingerprints(builds) == [SHA]


def test_artifacts_can_follow_the_completion(builds: BuildWorld) -> None:
    builds.report()
    builds.report(artifacts=(ARTIFACT,), message="Uploaded")
    assert (fingerprints(builds), variant(builds)["message"]) == ([SHA], "Uploaded")


def test_the_artifacts_of_a_failed_variant_are_replaced(builds: BuildWorld) -> None:
    builds.report(status="failed", artifacts=(OTHER,))
    builds.report(artifacts=(ARTIFACT,))
    assert fingerprints(builds) == [SHA]


def test_a_completed_variant_no_longer_has_the_message_of_its_failure(builds: BuildWorld) -> None:
    builds.report(status="failed", message="Disk full", details="df: 100 %")
    builds.report()
    assert variant(builds).keys() & {"message", "details"} == set()


def test_one_of_two_contradictory_reports_wins_however_they_meet(builds: BuildWorld) -> None:
    def reports(artifact: Artifact) -> Any:
        def flow(process: Process) -> None:
            table = BuildsTable(process.world.client("dynamodb"), TABLE, retention_days=90)
            with suppress(Contradiction):
                Builds(table=table, now=process.world.clock.text).report(SCOPE, report(artifacts=(artifact,)))

        return flow

    plays = 0
    for outcome in interleavings(builds, reports(ARTIFACT), reports(OTHER), preemptions=2):
        plays += 1
        (kept,) = fingerprints(builds)
        (refused,) = {SHA, OTHER_SHA} - {kept}
        assert (files(builds, kept), files(builds, refused)) == (["ui.tgz"], []), outcome.story()
    assert plays > 10


def test_the_api_refuses_another_fingerprint_and_finds_the_first_in_either_case(client: Client) -> None:
    artifact = {"name": "ui.tgz", "sha256": SHA}
    assert put(client, "builds/ui/1.0.0", BODY | {"artifacts": [artifact]}).status == 200
    refused = put(client, "builds/ui/1.0.0", BODY | {"artifacts": [artifact | {"sha256": OTHER_SHA}]})
    assert (refused.status, refused.body["detail"]) == (
        409,
        "Variant default of ui 1.0.0 is completed with other artifacts: report a new version",
    )
    assert client.get(f"{HERE}/files/{OTHER_SHA}").body["items"] == []
    assert len(client.get(f"{HERE}/files/{SHA.upper()}").body["items"]) == 1


def test_the_reason_names_the_builds_of_a_version_that_is_not_published(client: Client) -> None:
    assert put(client, "builds/ui/1.0.0", BODY | {"status": "started"}).status == 200
    missing = client.get(f"{HERE}/releases/ui/1.0.0")
    assert (missing.status, missing.body["detail"]) == (
        404,
        "ui 1.0.0 has builds (production), but hasn't been published",
    )
