"""Patterns of event types, event sources, repositories and branches: `*` matches any text, all else is literal. Pure.

Without regular expressions: teams choose patterns and values, and backtracking could take minutes. Tags have a second
wildcard: see `tag_patterns`.
"""

ANY = "*"
# Wildcards elsewhere. They are rejected in new patterns, whose authors would expect them to match more.
FOREIGN = "?["


def matches(value: str, pattern: str) -> bool:
    """Case-sensitive."""
    first, *others = pattern.split(ANY)
    if not others:
        return value == pattern
    *middle, last = others
    at, end = len(first), len(value) - len(last)
    if at > end or not value.startswith(first) or not value.endswith(last):
        return False
    for part in middle:
        found = value.find(part, at, end)
        if found < 0:
            return False
        at = found + len(part)
    return True
