"""Builds, packages, versions and release lines over the API: reports, lists, limits and roles."""

import json
from typing import Any
from urllib.parse import quote

import pytest
from runledger.model.packages import LineKey, Publication
from runledger.model.releases import RebuildMode
from runledger.platform.clients import client as aws_client
from runledger.releases.publications import Publications
from runledger.releases.queue import read_publication
from runledger.tables import release_keys, schema
from runledger.tables.attributes import to_attributes
from runledger.tables.packages import PackagesTable
from runledger.tables.release_lines import LinesTable
from runledger_api import wiring

from tests.api.client import NOON, TOKENS, Client, Response
from tests.functions.conftest import World
from tests.releases.api_scene import HERE, PUBLISHER, RETENTION_DAYS, STRANGER, api, client, ledger, put, world
from tests.support.memory import engine
from tests.support.webhooks import INSTALLATION

__all__ = ["api", "client", "ledger", "world"]

SHA256 = "a" * 64
BUILD = {"environment": "production", "status": "completed"}
PACKAGE = {"repo_full_name": "acme/ui"}
REBUILT = PACKAGE | {"workflow": "build.yml"}
UI = quote("@acme/ui", safe="")
ARTIFACT = {"name": "ui.tgz", "url": "https://cdn.example/ui.tgz", "sha256": SHA256, "size": 12}


def items() -> Any:
    """All items of the table."""
    return engine().snapshot().items[schema.RELEASES.name]


def reported(client: Client, version: str = "1.0.0", name: str = UI, **changes: Any) -> dict[str, Any]:
    response = put(client, f"builds/{name}/{version}", BUILD | changes)
    assert response.status == 200, response.body
    return dict(response.body)


def published(client: Client, world: World, name: str, version: str, **changes: Any) -> Publication:
    """Publish a version, as the function that reads the queue does."""
    response = put(client, f"packages/{quote(name, safe='')}/versions/{version}", changes)
    assert (response.status, response.body) == (202, {"name": name, "version": version})
    dynamodb = aws_client("dynamodb")
    url = world.sqs.get_queue_url(QueueName="releases.fifo")["QueueUrl"]
    (message,) = world.sqs.receive_message(QueueUrl=url)["Messages"]
    world.sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
    found = read_publication(message["Body"])
    Publications(
        packages=PackagesTable(dynamodb, schema.RELEASES.name),
        lines=LinesTable(dynamodb, schema.RELEASES.name, retention_days=RETENTION_DAYS),
        mode=RebuildMode.DRY_RUN,
        send=_nothing_is_rebuilt,
        now=lambda: NOON,
    ).publish(found)
    return found


def _nothing_is_rebuilt(line: LineKey) -> None:
    raise AssertionError(f"{line} was sent in a dry run")


def parameter(refused: Response) -> tuple[int, str]:
    return refused.status, refused.body["errors"][0]["parameter"]


def test_variants_of_a_build_are_counted_once(client: Client) -> None:
    assert reported(client, variant="en", variants=3, status="started")["progress"] == 0
    for _ in range(2):
        first = reported(client, variant="en", variants=3)
    assert (first["completed_variants"], first["total_variants"], first["status"]) == (1, 3, "building")
    assert reported(client, variant="de", status="failed", message="No space left")["error"] is True
    assert [reported(client, variant=each)["progress"] for each in ("de", "fr")] == [0.6667, 1.0]
    found = client.get(f"{HERE}/builds/{UI}/1.0.0", environment="production").body
    assert (found["status"], found["failed_variants"], found["completed_at"]) == ("completed", 0, NOON)
    assert [each["variant"] for each in found["variants"]] == ["de", "en", "fr"]
    assert {each["message"] for each in found["events"] if each["status"] == "failed"} == {"No space left"}


def test_a_build_has_its_run_and_artifacts_which_are_found_by_their_fingerprint(client: Client) -> None:
    linked: dict[str, Any] = {"run_id": 7, "head_sha": "b" * 40, "repo_full_name": "acme/ui"}
    build = reported(client, artifacts=[ARTIFACT], **linked)
    assert {name: build[name] for name in linked} == linked
    (variant,) = client.get(f"{HERE}/builds/{UI}/1.0.0", environment="production").body["variants"]
    assert variant["artifacts"] == [ARTIFACT]
    (file,) = client.get(f"{HERE}/files/{SHA256}").body["items"]
    assert (file["package"], file["version"], file["name"]) == ("@acme/ui", "1.0.0", "ui.tgz")
    assert client.get(f"{HERE}/files/{'b' * 64}").body["items"] == []
    assert parameter(client.get(f"{HERE}/files/x")) == (400, "sha256")


def test_builds_are_listed_by_version_in_pages(client: Client) -> None:
    for version in ("1.0.0", "1.1.0", "1.2.0"):
        reported(client, version)
    reported(client, "9.0.0", environment="staging")
    first = client.get(f"{HERE}/builds/{UI}", environment="production", limit=2).body
    assert [each["version"] for each in first["items"]] == ["1.2.0", "1.1.0"]
    rest = client.get(f"{HERE}/builds/{UI}", environment="production", limit=2, cursor=first["next_cursor"]).body
    assert ([each["version"] for each in rest["items"]], rest["next_cursor"]) == (["1.0.0"], None)
    other = client.get(f"{HERE}/builds/{UI}", environment="staging", cursor=first["next_cursor"])
    assert parameter(other) == (400, "cursor")
    assert parameter(client.get(f"{HERE}/builds/{UI}")) == (400, "environment")
    assert client.get(f"{HERE}/builds/{UI}/7.0.0", environment="production").status == 404


@pytest.mark.parametrize("name", ["@acme/ui", "@acme%2Fui", "%40acme%2Fui", "%2540acme%252Fui"])
def test_a_name_with_a_slash_works_encoded_and_decoded(client: Client, name: str) -> None:
    assert put(client, f"packages/{name}", PACKAGE).body["name"] == "@acme/ui"
    assert reported(client, name=name)["name"] == "@acme/ui"
    assert client.get(f"{HERE}/packages/{name}").body["heads"][0]["version"] == "1.0.0"
    assert len(client.get(f"{HERE}/builds/{name}", environment="production").body["items"]) == 1
    assert client.get(f"{HERE}/packages/{name}/versions").body["items"] == []


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        (f"builds/{UI}/1.0.0", {}, "environment"),
        (f"builds/{UI}/1.0.0", BUILD | {"status": "done"}, "status"),
        (f"builds/{UI}/1.0.0", BUILD | {"variants": 1001}, "variants"),
        (f"builds/{UI}/1.0.0", BUILD | {"variants": "three"}, "variants"),
        (f"builds/{UI}/1.0.0", BUILD | {"artifacts": [ARTIFACT] * 101}, "artifacts"),
        (f"builds/{UI}/1.0.0", BUILD | {"artifacts": [ARTIFACT | {"url": "javascript:x"}]}, "artifacts.0.url"),
        (f"builds/{UI}/1.0.0", BUILD | {"artifacts": [ARTIFACT | {"sha256": None}]}, "artifacts.0.sha256"),
        (f"builds/{UI}/1.0.0", BUILD | {"typo": 1}, "typo"),
        (f"builds/{UI}/1%23", BUILD, "version"),
        ("builds/a b/1.0.0", BUILD, "package"),
        (f"packages/{UI}", {"workflow": "x"}, "repo_full_name"),
        (f"packages/{UI}", PACKAGE | {"published_by": "me"}, "published_by"),
        (f"packages/{UI}", PACKAGE | {"dependencies": {"@acme/ui": "1"}}, "dependencies"),
        (f"packages/{UI}", PACKAGE | {"dependencies": {f"p{n}": "1" for n in range(201)}}, "dependencies"),
        ("packages/a%20b", PACKAGE, "package"),
        (f"packages/{UI}/versions/x%20y", {}, "version"),
        (f"packages/{UI}/versions/1.0.0", {"head_sha": "zzz"}, "head_sha"),
        (f"packages/{UI}", PACKAGE | {"description": 1}, "description"),
    ],
)
def test_a_report_that_is_refused_names_its_field_and_writes_nothing(
    client: Client, path: str, body: Any, field: str
) -> None:
    before = items()
    assert parameter(put(client, path, body)) == (400, field)
    assert items() == before


@pytest.mark.parametrize("body", [None, "", "[]", "{", '"x"'])
def test_a_body_is_a_json_object(client: Client, body: str | None) -> None:
    before = items()
    refused = client.with_token(PUBLISHER).request("PUT", f"{HERE}/packages/ui", body=body)
    assert (refused.status, items()) == (400, before)


def test_a_body_has_a_limit(client: Client) -> None:
    before = items()
    padded = json.dumps(PACKAGE) + " " * 250_000
    refused = client.with_token(PUBLISHER).request("PUT", f"{HERE}/packages/ui", body=padded)
    assert (parameter(refused), items()) == ((400, "body"), before)


def test_a_build_has_a_limited_number_of_variants(client: Client) -> None:
    reported(client, variant="v0", variants=1000)
    aws_client("dynamodb").update_item(
        TableName=schema.RELEASES.name,
        Key=to_attributes({"PK": release_keys.builds_key(INSTALLATION, "@acme/ui", "production"), "SK": "1.0.0"}),
        UpdateExpression="ADD completed_variants :variants",
        ExpressionAttributeValues=to_attributes({":variants": {f"v{n}" for n in range(1000)}}),
    )
    assert parameter(put(client, f"builds/{UI}/1.0.0", BUILD | {"variant": "another"})) == (400, "variant")
    assert reported(client, variant="v7")["completed_variants"] == 1000


def test_reports_of_a_minute_are_limited(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    found = wiring.releases()
    assert found
    monkeypatch.setattr(found.reports, "most_per_minute", 2)
    assert put(client, f"packages/{UI}", {}).status == 400  # isn't counted
    for _ in range(2):
        reported(client)
    before = items()
    refused = put(client, f"builds/{UI}/2.0.0", BUILD)
    assert (refused.status, "limit of 2 reports a minute" in refused.body["detail"]) == (429, True)
    assert items() == before


def test_a_package_shows_its_dependencies_dependents_and_heads(client: Client) -> None:
    core = PACKAGE | {"repo_full_name": "acme/core", "metadata": {"team": "base"}, "description": "Two\nlines"}
    assert put(client, "packages/core", core).status == 200
    assert put(client, f"packages/{UI}", PACKAGE | {"dependencies": {"core": "^1"}}).status == 200
    reported(client, name="core", version="1.0.0")
    reported(client, name="core", version="1.1.0")
    reported(client, name="core", version="1.1.0", environment="staging", status="started")
    found = client.get(f"{HERE}/packages/core").body
    assert (found["metadata"], found["description"]) == ({"team": "base"}, "Two\nlines")
    assert found["dependents"] == [{"name": "@acme/ui", "range": "^1"}]
    production, staging = found["heads"]
    assert (production["version"], production["rollback_versions"]) == ("1.1.0", ["1.0.0"])
    assert staging == {"environment": "staging", "rollback_versions": []}
    assert client.get(f"{HERE}/packages/{UI}").body["dependencies"] == {"core": "^1"}
    names = [each["name"] for each in client.get(f"{HERE}/packages", limit=1).body["items"]]
    assert names == ["@acme/ui"]
    assert {client.get(f"{HERE}/packages/unknown{each}").status for each in ("", "/versions")} == {404}


def test_a_published_version_has_a_line_with_its_dependents_and_builds(client: Client, world: World) -> None:
    put(client, "packages/core", PACKAGE | {"repo_full_name": "acme/core"})
    put(client, f"packages/{UI}", REBUILT | {"dependencies": {"core": "^1"}}, token=TOKENS["operator"])
    publication = published(client, world, "core", "1.0.0", head_sha="c" * 40, run_id=9)
    assert (publication.repo_full_name, publication.published_at, publication.run_id) == ("acme/core", NOON, 9)
    reported(client, name="core", version="1.0.0", variant="en", variants=4)
    line = client.get(f"{HERE}/releases/core/1.0.0").body
    assert (line["status"], line["mode"], line["progress"], line["total_dependents"]) == ("planned", "dry_run", 0, 1)
    assert [(each["name"], each["status"]) for each in line["dependents"]] == [("@acme/ui", "planned")]
    assert [(each["environment"], each["progress"]) for each in line["builds"]] == [("production", 0.25)]
    (listed,) = client.get(f"{HERE}/releases").body["items"]
    assert listed == {name: value for name, value in line.items() if name not in ("dependents", "builds")}
    assert client.get(f"{HERE}/packages/core").body["version"] == "1.0.0"
    assert client.get(f"{HERE}/releases/core/2.0.0").status == 404


@pytest.mark.parametrize(("had_line", "reason"), [(False, "isn't ready yet"), (True, "has expired")])
def test_a_version_without_a_line_explains_why(client: Client, had_line: bool, reason: str) -> None:
    packages = PackagesTable(aws_client("dynamodb"), schema.RELEASES.name)
    version = {"installation_id": INSTALLATION, "name": "core", "version": "1.0.0"}
    packages.claim_version(version | {"published_at": NOON})
    if had_line:
        packages.note_line(INSTALLATION, "core", "1.0.0")
    missing = client.get(f"{HERE}/releases/core/1.0.0")
    assert (missing.status, reason in missing.body["detail"]) == (404, True)


def test_versions_are_listed_in_their_order_and_by_range(client: Client, world: World) -> None:
    put(client, "packages/core", PACKAGE)
    for version in ("1.9.0", "1.10.0", "2.0.0-rc.1", "nightly"):
        published(client, world, "core", version)
    path = f"{HERE}/packages/core/versions"
    found, cursor = [], None
    while True:
        page = client.get(path, limit=3, cursor=cursor).body
        found += [each["version"] for each in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert found == ["2.0.0-rc.1", "1.10.0", "1.9.0", "nightly"]
    assert [each["version"] for each in client.get(path, range="^1.9").body["items"]] == ["1.10.0", "1.9.0"]


def test_a_version_needs_its_package(client: Client, world: World) -> None:
    refused = put(client, "packages/core/versions/1.0.0", {})
    assert (refused.status, "Package core was not found" in refused.body["detail"]) == (404, True)
    assert world.waiting("releases.fifo") == []


@pytest.mark.parametrize("path", [f"builds/{UI}/1.0.0", f"packages/{UI}", f"packages/{UI}/versions/1.0.0"])
def test_only_publishers_and_operators_report(client: Client, path: str) -> None:
    body = BUILD if path.startswith("builds") else PACKAGE if "versions" not in path else {}
    before = items()
    refused = put(client, path, body, token=TOKENS["reader"])
    assert (refused.status, "requires the role publisher" in refused.body["detail"]) == (403, True)
    hidden = put(client, path, body, token=STRANGER)
    assert (hidden.status, hidden.body["detail"]) == (404, f"Installation {INSTALLATION} was not found")
    assert items() == before
    assert put(client, path, body, token=TOKENS["operator"]).status in (200, 404)


def test_a_run_of_another_installation_adds_nothing_to_a_build(client: Client) -> None:
    """The build has the number that its publisher reported. No run is read for it."""
    build = reported(client, run_id=4_747_967_848, repo_full_name="elsewhere/secret")
    named = {"run_id": 4_747_967_848, "repo_full_name": "elsewhere/secret", "head_sha": None}
    assert {name: build[name] for name in named} == named


@pytest.mark.parametrize(
    "path",
    [
        *("builds/ui?environment=x", "builds/ui/1?environment=x", f"files/{SHA256}", "packages", "packages/ui"),
        *("packages/ui/versions", "releases", "releases/ui/1"),
    ],
)
def test_another_installation_sees_nothing(client: Client, path: str) -> None:
    put(client, "packages/ui", PACKAGE)
    where, _, query = path.partition("?")
    given = dict([query.split("=")]) if query else {}
    response = client.with_token(TOKENS["scoped"]).get(f"{HERE}/{where}", **given)
    assert (response.status, response.body["detail"]) == (404, f"Installation {INSTALLATION} was not found")


@pytest.mark.parametrize("name", ["..", ".", "a/../b", "a%00b", "a%0ab", "a%2523b", "%23", "x" * 215, "<b>", "a?b"])
def test_hostile_names_are_refused(client: Client, name: str) -> None:
    before = items()
    for path in (f"builds/{quote(name)}/1.0.0", f"packages/{quote(name)}"):
        response = put(client, path, BUILD if path.startswith("builds") else PACKAGE)
        assert response.status in (400, 404), response
    assert items() == before
