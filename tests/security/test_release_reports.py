"""Reports of builds and packages: what a publisher can't do with them, and what they cost at most."""

from typing import Any

import pytest
from runledger_api import wiring

from tests.api.client import TOKENS, Client
from tests.releases.api_scene import HERE, api, client, ledger, put, world

__all__ = ["api", "client", "ledger", "world"]

OPERATOR = TOKENS["operator"]
PACKAGE = {"repo_full_name": "acme/ui", "workflow": "release.yml", "ref": "main"}
ARTIFACT = {"name": "ui.tgz", "sha256": "a" * 64}


def test_a_publisher_chooses_no_workflow_that_is_dispatched(client: Client) -> None:
    deploys = PACKAGE | {"repo_full_name": "acme/production", "workflow": "deploy.yml"}
    refused = put(client, "packages/ui", deploys)
    assert (refused.status, "requires the role operator" in refused.body["detail"]) == (403, True)
    assert client.get(f"{HERE}/packages/ui").status == 404
    assert put(client, "packages/ui", PACKAGE, token=OPERATOR).status == 200
    for name, value in (("repo_full_name", "acme/production"), ("workflow", "deploy.yml"), ("ref", "x")):
        assert put(client, "packages/ui", PACKAGE | {name: value}).status == 403
    assert put(client, "packages/ui", {"repo_full_name": "acme/ui"}).status == 403
    assert client.get(f"{HERE}/packages/ui").body["workflow"] == "release.yml"


def test_a_publisher_changes_the_rest_of_a_package(client: Client) -> None:
    assert put(client, "packages/ui", {"repo_full_name": "acme/ui"}).status == 200
    assert put(client, "packages/ui", PACKAGE, token=OPERATOR).status == 200
    changed = put(client, "packages/ui", PACKAGE | {"dependencies": {"core": "^1"}})
    assert (changed.status, changed.body["dependencies"]) == (200, {"core": "^1"})


@pytest.mark.parametrize(
    ("path", "body", "counted"),
    [
        ("packages/ui", {"dependencies": {f"p{number}": "1" for number in range(200)}}, 21),
        ("packages/ui", {"metadata": {str(number): "x" * 990 for number in range(50)}}, 6),
        ("builds/ui/1", {"artifacts": [ARTIFACT | {"name": str(number)} for number in range(100)]}, 11),
    ],
)
def test_a_large_report_counts_as_several(
    client: Client, monkeypatch: pytest.MonkeyPatch, path: str, body: dict[str, Any], counted: int
) -> None:
    found = wiring.releases()
    assert found
    monkeypatch.setattr(found.reports, "most_per_minute", counted + 1)
    needed = {"environment": "production", "status": "completed"} if path.startswith("builds") else {}
    assert put(client, path, {"repo_full_name": "acme/ui", **needed, **body}).status == 200
    small = {"repo_full_name": "acme/ui"}
    assert [put(client, "packages/other", small).status for _ in range(2)] == [200, 429]


@pytest.mark.parametrize("field", ["workflow", "ref", "dependencies"])
def test_texts_of_a_plan_have_a_limit_in_bytes(client: Client, field: str) -> None:
    long = "\U0001f600" * 190
    body = PACKAGE | {field: {"core": long} if field == "dependencies" else long}
    refused = put(client, "packages/ui", body, token=OPERATOR)
    assert (refused.status, refused.body["errors"][0]["parameter"].partition(".")[0]) == (400, field)


@pytest.mark.parametrize("wanted", ["a - b", "9" * 200, "> " * 100, "\u0661 - \u0662"])
def test_a_range_that_is_none_finds_nothing(client: Client, wanted: str) -> None:
    put(client, "packages/ui", {"repo_full_name": "acme/ui"})
    response = client.get(f"{HERE}/packages/ui/versions", range=wanted)
    assert (response.status, response.body["items"]) == (200, [])
