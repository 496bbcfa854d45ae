"""Names with slashes in paths, however they arrive."""

import pytest
from runledger_api.paths import normalised

HERE = "/v1/installations/42"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("builds/ui", "builds/ui"),
        ("builds/ui/1.0.0", "builds/ui/1.0.0"),
        ("builds/@acme/ui", "builds/%40acme%2Fui"),
        ("builds/@acme%2Fui", "builds/%40acme%2Fui"),
        ("builds/%40acme%2fui/1.0.0", "builds/%40acme%2Fui/1.0.0"),
        ("builds/@acme/ui/1.0.0", "builds/%40acme%2Fui/1.0.0"),
        ("builds/ghcr.io/acme/api/1.0.0", "builds/ghcr.io%2Facme%2Fapi/1.0.0"),
        ("builds/ghcr.io%2Facme%2Fapi", "builds/ghcr.io%2Facme%2Fapi"),
        ("packages/@acme/ui", "packages/%40acme%2Fui"),
        ("packages/acme/ui", "packages/acme%2Fui"),
        ("packages/@acme/ui/versions", "packages/%40acme%2Fui/versions"),
        ("packages/acme/ui/versions/1.0+b", "packages/acme%2Fui/versions/1.0%2Bb"),
        ("packages/@acme/versions", "packages/%40acme%2Fversions"),
        ("packages/versions", "packages/versions"),
        ("releases/@acme/ui/1.0.0", "releases/%40acme%2Fui/1.0.0"),
        ("releases/a/b/c/1.0.0", "releases/a%2Fb%2Fc/1.0.0"),
        ("heads/acme/ui", "heads/acme/ui"),
        ("packages", "packages"),
    ],
)
def test_a_name_with_slashes_is_one_segment(given: str, expected: str) -> None:
    assert normalised(f"{HERE}/{given}") == f"{HERE}/{expected}"
    assert normalised(f"{HERE}/{expected}") == f"{HERE}/{expected}"


def test_the_arn_of_a_task_is_one_segment() -> None:
    assert normalised("/admin/orphans/arn:x:task/a/b/cleanup") == "/admin/orphans/arn%3Ax%3Atask%2Fa%2Fb/cleanup"
