"""Versions: their order and npm's ranges, also for versions and ranges that aren't semantic."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from runledger.releases import versions
from runledger.releases.names import LONGEST_VERSION

SEMANTIC = [
    "0.9.0",
    "1.0.0-alpha",
    "1.0.0-alpha.1",
    "1.0.0-alpha.beta",
    "1.0.0-rc.1",
    "1.0.0",
    "1.2.3",
    "1.10.0",
    "2.0.0",
]
ANY_VERSION = st.text("0123456789.+-_abcv", min_size=1, max_size=LONGEST_VERSION) | st.sampled_from(SEMANTIC)


def test_semantic_versions_are_in_the_order_of_their_precedence() -> None:
    assert sorted({*SEMANTIC}, key=versions.order) == SEMANTIC


def test_other_versions_are_lower_than_semantic_ones() -> None:
    assert sorted(["1.0.0", "r7", "2024-10"], key=versions.order) == ["2024-10", "r7", "1.0.0"]


@pytest.mark.parametrize(
    ("version", "than", "expected"),
    [
        ("1.0.0", None, True),
        ("1.0.1", "1.0.0", True),
        ("1.0.0", "1.0.0", False),
        ("1.0.5", "2.0.0", False),
        ("2.0.0-rc.1", "1.0.0", False),
        ("1.0.0", "2.0.0-rc.1", True),
        ("2.0.0-rc.2", "2.0.0-rc.1", True),
        ("r8", "r7", True),
        ("r8", "1.0.0", False),
    ],
)
def test_a_later_version_is_higher_and_no_prerelease_of_a_released_package(
    version: str, than: str | None, expected: bool
) -> None:
    assert versions.is_later(version, than) is expected


@pytest.mark.parametrize(
    ("wanted", "included", "excluded"),
    [
        ("^1.2.3", ["1.2.3", "1.9.0"], ["1.2.2", "2.0.0", "1.3.0-rc.1"]),
        ("~1.2.3", ["1.2.9"], ["1.3.0"]),
        ("^0.2.3", ["0.2.9"], ["0.3.0"]),
        ("1.x", ["1.0.0", "1.9.9"], ["2.0.0"]),
        (">= 1.0.0 < 2.0.0", ["1.0.0", "1.9.9"], ["2.0.0", "0.9.0"]),
        ("1.0.0 - 1.5.0", ["1.5.0"], ["1.5.1"]),
        ("^1.0.0 || ^3.0.0", ["1.1.0", "3.1.0"], ["2.0.0"]),
        ("^1.2.3-beta.1", ["1.2.3-beta.2", "1.2.3"], ["1.2.4-beta.2"]),
        ("*", ["0.0.1", "9.9.9", "r7"], ["1.0.0-rc.1"]),
        ("", ["1.0.0", "r7"], []),
        ("workspace:*", ["1.0.0"], []),
        ("workspace:^", ["1.0.0"], []),
        ("workspace:^1.0.0", ["1.1.0"], ["2.0.0"]),
        ("r7", ["r7"], ["r8", "1.0.0"]),
        ("latest", [], ["1.0.0"]),
        ("git+https://github.com/acme/ui.git", [], ["1.0.0"]),
        ("^1.0.0+build.5", ["1.0.0"], ["2.0.0"]),
    ],
)
def test_ranges_are_those_of_npm(wanted: str, included: list[str], excluded: list[str]) -> None:
    assert [each for each in included if not versions.includes(wanted, each)] == []
    assert [each for each in excluded if versions.includes(wanted, each)] == []


@given(ANY_VERSION, st.text(max_size=100))
def test_no_version_and_no_range_is_an_error(version: str, wanted: str) -> None:
    assert versions.includes(wanted, version) in (True, False)
    assert versions.includes(version, version)
    assert versions.is_later(version, version) is False


@given(st.lists(ANY_VERSION, min_size=2, max_size=5, unique=True))
def test_the_order_is_total_and_independent_of_the_input_order(found: list[str]) -> None:
    expected = sorted(found, key=versions.order)
    assert all(sorted(each, key=versions.order) == expected for each in itertools.permutations(found))
    for lower, higher in itertools.pairwise(expected):
        assert versions.is_higher(higher, lower)
        assert not versions.is_higher(lower, higher)
