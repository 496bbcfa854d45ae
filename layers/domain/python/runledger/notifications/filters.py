"""Which events a subscription matches. Pure."""

from collections.abc import Mapping
from typing import Any

from runledger.feeds.events import is_kept
from runledger.model.dataclass import dataclass
from runledger.model.patterns import matches

# GitHub names have at most 255 characters. Publishers choose the data of custom events, and the time of a match is
# proportional to the length of the value times the length of the pattern.
LONGEST_VALUE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class EventFilter:
    """Patterns, in which `*` matches any text. An empty list of types matches no event; other empty lists match all.

    An event without a repository, branch or conclusion doesn't match a filter for it.
    """

    types: tuple[str, ...] = ()
    repositories: tuple[str, ...] = ()
    branches: tuple[str, ...] = ()
    conclusions: tuple[str, ...] = ()

    def matches(self, envelope: Mapping[str, Any]) -> bool:
        data = envelope.get("data")
        data = data if isinstance(data, Mapping) else {}
        return (
            is_kept(envelope["type"], self.types)
            and _matches(data.get("repo_full_name"), self.repositories, ignore_case=True)
            and _matches(data.get("head_branch"), self.branches)
            and _matches(data.get("conclusion"), self.conclusions)
        )


def _matches(value: object, patterns: tuple[str, ...], *, ignore_case: bool = False) -> bool:
    if not patterns:
        return True
    if not isinstance(value, str) or len(value) > LONGEST_VALUE:
        return False
    if ignore_case:  # as GitHub does for repository names
        value, patterns = value.lower(), tuple(pattern.lower() for pattern in patterns)
    return any(matches(value, pattern) for pattern in patterns)
