"""Tags are compared as IAM's StringLike does, which decides on the stop call in the end."""

import pytest
from runledger.model.ownership import has_tags, must_stay
from runledger.model.tag_patterns import has_wildcard, matches


@pytest.mark.parametrize(
    ("value", "pattern", "matched"),
    [
        ("ci", "ci", True),
        ("CI", "ci", False),
        ("ci-linux", "ci-*", True),
        ("", "*", True),
        ("two\nlines", "*", True),
        ("ci-1", "ci-?", True),
        ("ci-", "ci-?", False),
        ("ci-10", "ci-?", False),
        ("ci-1", "ci-[12]", False),
        ("ci-[12]", "ci-[12]", True),
        ("ci.1", "ci.1", True),
        ("cix1", "ci.1", False),
    ],
)
def test_a_value_is_matched_as_by_iam(value: str, pattern: str, matched: bool) -> None:
    assert matches(value, pattern) is matched
    assert has_tags({"team": value}, {"team": pattern}) is matched
    assert must_stay({"pool": value}, {"pool": pattern}) is matched


@pytest.mark.parametrize(("pattern", "has_one"), [("ci", False), ("ci-[12]", False), ("ci-*", True), ("ci-?", True)])
def test_only_two_characters_are_wildcards(pattern: str, has_one: bool) -> None:
    assert has_wildcard(pattern) is has_one
