"""Event types, sources, repositories and branches: only `*` is a wildcard."""

import pytest
from runledger.feeds.events import is_kept
from runledger.model.patterns import matches
from runledger.notifications.filters import EventFilter
from runledger.runners.publishers import Publishers, parse

ACCOUNT = "210987654321"


@pytest.mark.parametrize(
    ("value", "pattern", "matched"),
    [
        ("job.failed", "job.failed", True),
        ("job.failed", "job.*", True),
        ("job.failed", "*", True),
        ("", "*", True),
        ("", "", True),
        ("job.failed", "", False),
        ("Job.failed", "job.*", False),
        ("job.", "job.*", True),
        ("job", "job.*", False),
        ("jobs.failed", "job.*", False),
        ("release/1/fix", "release/*/fix", True),
        ("release/fix", "release/*/fix", False),
        ("two\nlines", "two*", True),
        ("aba", "ab*ba", False),
        ("abba", "ab*ba", True),
        ("a-b-c", "a*b*c", True),
        ("a-c-b", "a*b*c", False),
        ("a-b-b", "*b*b", True),
        ("a-b", "*b*b", False),
        ("ab", "a**b", True),
        ("team-b1", "team-b?", False),
        ("team-b?", "team-b?", True),
        ("team-b", "team-[ab]", False),
        ("team-[ab]", "team-[ab]", True),
        ("team-b.x", "team-[!a]*", False),
        ("teamxb", "team.b", False),
    ],
)
def test_only_a_star_is_a_wildcard(value: str, pattern: str, matched: bool) -> None:
    assert matches(value, pattern) is matched


def test_many_stars_never_backtrack() -> None:
    """With backtracking, this test wouldn't end."""
    assert not matches("a" * 500, "a*" * 100 + "b")


@pytest.mark.parametrize("source", ["team-b?", "team-[ab]"])
def test_other_wildcards_are_rejected_in_the_source_of_a_publisher(source: str) -> None:
    with pytest.raises(ValueError, match="is the only wildcard"):
        parse([{"account": ACCOUNT, "source": source, "installations": [7]}])


@pytest.mark.parametrize(("source", "allowed"), [("team", False), ("team-*", True)])
def test_a_publisher_is_allowed_only_by_a_star_or_its_own_name(source: str, allowed: bool) -> None:
    entries = parse([{"account": ACCOUNT, "source": source, "installations": [7]}])
    publishers = Publishers(own_account="123456789012", entries=entries)
    for published in ("team-b", "team-b1"):
        found = publishers.allowing(account=ACCOUNT, source=published, installation_id=7)
        assert (found is not None) is allowed
    assert publishers.allowing(account=ACCOUNT, source=source, installation_id=7) is not None


@pytest.mark.parametrize(("branch", "matched"), [("release/[12]", True), ("release/1", False), ("release/?", False)])
def test_a_filter_reads_brackets_literally(branch: str, matched: bool) -> None:
    wanted = EventFilter(types=("run.*",), branches=("release/[12]",))
    assert wanted.matches({"type": "run.failed", "data": {"head_branch": branch}}) is matched


def test_a_filter_for_repositories_ignores_case() -> None:
    wanted = EventFilter(types=("*",), repositories=("Acme/*",))
    assert wanted.matches({"type": "run.failed", "data": {"repo_full_name": "aCME/api"}})


def test_the_feed_keeps_types_that_match() -> None:
    assert is_kept("job.failed", ("run.*", "job.*"))
    assert not is_kept("job.failed", ("job.?ailed", "job.[f]ailed"))
