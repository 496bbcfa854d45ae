"""Reports of publishers: what is accepted, and which field is named if something isn't."""

from typing import Any

import pytest
from runledger.model.errors import Malformed
from runledger.model.packages import MOST_DEPENDENCIES, PublishedBy, VariantStatus
from runledger.releases import names
from runledger.releases.build_reports import MOST_ARTIFACTS, MOST_VARIANTS, build_report
from runledger.releases.package_reports import package_report, version_report

SHA256 = "a" * 64
ARTIFACT = {"name": "ui.tgz", "url": "https://cdn.example/ui.tgz", "sha256": SHA256, "size": 12}
BUILD = {"environment": "production", "status": "completed"}
PACKAGE = {"repo_full_name": "acme/ui"}


@pytest.mark.parametrize("name", ["ui", "@acme/ui", "a.b/c-d_e", "ghcr.io/acme/api", ".hidden", "x" * 214])
def test_names_of_registries_are_accepted(name: str) -> None:
    assert names.package_name(name) == name


@pytest.mark.parametrize(
    "name",
    [
        *("", "/", "a/", "/a", "a//b", ".", "..", "a/../b", "@", "@/a", "a b", "a#b", "a%23b", "ä", "a\n", "x" * 215),
        *(None, 1, ["a"]),
    ],
)
def test_other_names_are_refused(name: Any) -> None:
    with pytest.raises(Malformed) as refused:
        names.package_name(name)
    assert refused.value.field == "name"


@pytest.mark.parametrize("version", ["", "..", "1/2", "1 2", "1#", "v" * 101, None])
def test_a_version_has_no_separator(version: Any) -> None:
    assert names.version("v1.2.3-rc.1+build_5") == "v1.2.3-rc.1+build_5"
    with pytest.raises(Malformed, match="version must have"):
        names.version(version)


def test_a_build_is_read_with_its_defaults() -> None:
    found = build_report("@acme/ui", "1.0.0", BUILD | {"artifacts": [ARTIFACT], "message": None})
    assert (found.name, found.version, found.variant, found.status) == (
        *("@acme/ui", "1.0.0", "default"),
        VariantStatus.COMPLETED,
    )
    (artifact,) = found.artifacts
    assert (artifact.name, artifact.sha256, artifact.size) == ("ui.tgz", SHA256, 12)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"environment": None}, "environment"),
        ({"environment": ""}, "environment"),
        ({"environment": "a\x1bb"}, "environment"),
        ({"status": None}, "status"),
        ({"status": "done"}, "status"),
        ({"status": ["completed"]}, "status"),
        ({"variant": "x" * 101}, "variant"),
        ({"variants": 0}, "variants"),
        ({"variants": True}, "variants"),
        ({"variants": MOST_VARIANTS + 1}, "variants"),
        ({"message": "two\nlines"}, "message"),
        ({"details": "\u202e"}, "details"),
        ({"run_id": -1}, "run_id"),
        ({"run_id": 2**63}, "run_id"),
        ({"head_sha": "HEAD"}, "head_sha"),
        ({"repo_full_name": "acme"}, "repo_full_name"),
        ({"unknown": 1}, "unknown"),
        ({"artifacts": {}}, "artifacts"),
        ({"artifacts": [ARTIFACT] * (MOST_ARTIFACTS + 1)}, "artifacts"),
        ({"artifacts": ["x"]}, "artifacts.0"),
        ({"artifacts": [ARTIFACT, ARTIFACT]}, "artifacts.1.name"),
        ({"artifacts": [ARTIFACT | {"name": ""}]}, "artifacts.0.name"),
        ({"artifacts": [ARTIFACT | {"sha256": "a" * 63}]}, "artifacts.0.sha256"),
        ({"artifacts": [ARTIFACT | {"size": -1}]}, "artifacts.0.size"),
        ({"artifacts": [ARTIFACT | {"size": 1.5}]}, "artifacts.0.size"),
        ({"artifacts": [ARTIFACT | {"path": "x"}]}, "artifacts.0.path"),
        ({"artifacts": [ARTIFACT], "status": "started"}, "artifacts"),
    ],
)
def test_the_field_of_a_build_that_is_wrong_is_named(changes: dict[str, Any], field: str) -> None:
    with pytest.raises(Malformed) as refused:
        build_report("ui", "1.0.0", BUILD | changes)
    assert refused.value.field == field


@pytest.mark.parametrize(
    "url",
    [
        *("http://cdn.example/x", "javascript:alert(1)", "data:text/html,x", "https://", "https:cdn.example", "//cdn"),
        *("https://user@cdn.example/x", "https://github.com@evil.example/", "https://cdn.example/<script>"),
        *("https://cdn.example/ x", "https://cdn.example\\@x", "HTTPS:/x", "https://[x", "https://cdn.example:99999/"),
        *("https://cdn.exämple/", "https://cdn.example/\n", "https://x/" + "y" * 2000, 5),
    ],
)
def test_an_artifact_is_linked_by_https_only(url: Any) -> None:
    with pytest.raises(Malformed) as refused:
        build_report("ui", "1.0.0", BUILD | {"artifacts": [ARTIFACT | {"url": url}]})
    assert refused.value.field == "artifacts.0.url"


def test_a_package_is_read_with_its_defaults() -> None:
    found = package_report("ui", PACKAGE | {"dependencies": {"@acme/core": "^1.2"}, "metadata": {"team": "web"}})
    assert (found.repo_full_name, found.published_by, found.workflow) == ("acme/ui", PublishedBy.API, None)
    assert (found.dependencies, found.metadata) == ({"@acme/core": "^1.2"}, {"team": "web"})


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"repo_full_name": None}, "repo_full_name"),
        ({"repo_full_name": "acme/ui/x"}, "repo_full_name"),
        ({"published_by": "me"}, "published_by"),
        ({"workflow": ""}, "workflow"),
        ({"ref": "x" * 251}, "ref"),
        ({"description": "x" * 1001}, "description"),
        ({"dependencies": ["core"]}, "dependencies"),
        ({"dependencies": {"a b": "1"}}, "dependencies"),
        ({"dependencies": {"ui": "1"}}, "dependencies"),
        ({"dependencies": {"core": ""}}, "dependencies.core"),
        ({"dependencies": {"core": 1}}, "dependencies.core"),
        ({"dependencies": {f"p{n}": "1" for n in range(MOST_DEPENDENCIES + 1)}}, "dependencies"),
        ({"metadata": {"a": 1}}, "metadata.a"),
        ({"metadata": {"": "x"}}, "metadata"),
        ({"metadata": {str(n): "x" for n in range(51)}}, "metadata"),
        ({"name": "other"}, "name"),
    ],
)
def test_the_field_of_a_package_that_is_wrong_is_named(changes: dict[str, Any], field: str) -> None:
    with pytest.raises(Malformed) as refused:
        package_report("ui", PACKAGE | changes)
    assert refused.value.field == field


def test_a_version_may_have_dependencies_of_its_own() -> None:
    found = version_report("ui", "1.0.0", {"head_sha": "a" * 40, "run_id": 7, "dependencies": {"core": "1"}})
    assert (found.head_sha, found.run_id, found.dependencies) == ("a" * 40, 7, {"core": "1"})
    assert version_report("ui", "1.0.0", {}).dependencies is None


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"head_sha": "x"}, "head_sha"),
        ({"run_id": "7"}, "run_id"),
        ({"dependencies": 1}, "dependencies"),
        ({"a": 1}, "a"),
    ],
)
def test_the_field_of_a_version_that_is_wrong_is_named(body: dict[str, Any], field: str) -> None:
    with pytest.raises(Malformed) as refused:
        version_report("ui", "1.0.0", body)
    assert refused.value.field == field
