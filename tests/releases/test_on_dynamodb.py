"""Builds and rebuilds on DynamoDB Local, with real threads: variants are counted exactly, and a claim has one owner."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import boto3
import pytest
from botocore.config import Config
from runledger.model.errors import Contradiction
from runledger.model.packages import BuildKey, LineKey, VariantStatus
from runledger.releases.build_reports import Artifact, BuildReport
from runledger.releases.builds import Builds
from runledger.tables import schema
from runledger.tables.builds import BuildsTable
from runledger.tables.packages import PackagesTable
from runledger.tables.release_lines import LinesTable

from tests.releases.rebuild_scenes import SCOPE
from tests.support.beds import CREATED_WITH
from tests.support.synthesis import synthesise

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

pytestmark = pytest.mark.server
TABLE = schema.RELEASES.name
AT = "2025-01-15T10:00:00.000Z"
VARIANTS, THREADS = 500, 32


@pytest.fixture
def client(dynamodb_local_url: str) -> Iterator["DynamoDBClient"]:
    made = boto3.client("dynamodb", endpoint_url=dynamodb_local_url, config=Config(max_pool_connections=THREADS))
    template = synthesise(releases=True)["data"]
    resource = template["Resources"][template["Outputs"]["ReleasesTable"]["Value"]["Ref"]]
    properties = {name: resource["Properties"][name] for name in CREATED_WITH if name in resource["Properties"]}
    made.create_table(TableName=TABLE, **properties)
    yield made
    made.delete_table(TableName=TABLE)
    made.close()


def test_500_variants_that_complete_at_once_are_counted_exactly(client: "DynamoDBClient") -> None:
    builds = Builds(table=BuildsTable(client, TABLE, retention_days=90), now=lambda: AT)
    names = [f"v{number}" for number in range(VARIANTS)]

    def report(variant: str, status: str) -> None:
        builds.report(
            SCOPE,
            BuildReport(
                name="ui",
                version="1.0.0",
                environment="prod",
                variant=variant,
                variants=VARIANTS,
                status=VariantStatus(status),
            ),
        )

    repeated = names[::10]
    reports = [(name, "completed") for name in names + repeated] + [(name, "failed") for name in repeated]
    with ThreadPoolExecutor(THREADS) as threads:
        list(threads.map(lambda each: report(*each), reports))
    found = builds.table.get(BuildKey(SCOPE, "ui", "prod", "1.0.0")) or {}
    assert found["completed_variants"] == set(names)
    assert "failed_variants" not in found
    assert found["status"] == "completed"
    assert (builds.table.head(SCOPE, "ui", "prod") or {})["version"] == "1.0.0"


def test_of_many_fingerprints_of_an_artifact_one_is_accepted(client: "DynamoDBClient") -> None:
    builds = Builds(table=BuildsTable(client, TABLE, retention_days=90), now=lambda: AT)

    def is_accepted(sha256: str) -> bool:
        report = BuildReport(
            name="ui",
            version="1.0.0",
            environment="prod",
            status=VariantStatus.COMPLETED,
            artifacts=(Artifact(name="ui.tgz", sha256=sha256),),
        )
        try:
            builds.report(SCOPE, report)
        except Contradiction:
            return False
        return True

    with ThreadPoolExecutor(THREADS) as threads:
        results = list(threads.map(is_accepted, [f"{number:064x}" for number in range(THREADS)]))
    (variant,) = builds.table.variants(BuildKey(SCOPE, "ui", "prod", "1.0.0"), limit=10)
    assert (results.count(True), variant["artifacts"][0]["sha256"]) == (1, f"{results.index(True):064x}")


def test_of_many_claims_one_is_accepted(client: "DynamoDBClient") -> None:
    lines, line = LinesTable(client, TABLE, retention_days=90), LineKey(SCOPE, "base", "1.0.0")
    lines.put_dependent(line, {"name": "ui", "status": "waiting", "depends_on": []}, at=AT)
    with ThreadPoolExecutor(THREADS) as threads:
        claimed = threads.map(lambda owner: lines.claim(line, "ui", owner=f"o{owner}", at=AT, workflow_id=1), range(64))
        assert sum(claimed) == 1


def test_of_many_publications_of_a_version_one_is_new(client: "DynamoDBClient") -> None:
    packages = PackagesTable(client, TABLE)
    version = {"installation_id": SCOPE, "name": "base", "version": "1.0.0"}
    with ThreadPoolExecutor(THREADS) as threads:
        found = list(threads.map(lambda n: packages.claim_version({**version, "run_id": n}), range(64)))
    assert sum(new for new, _ in found) == 1
    assert len({stored["run_id"] for _, stored in found}) == 1
