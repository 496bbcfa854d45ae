"""Tag values with wildcards, as IAM compares them: `*` is any text, `?` is one character, all else is literal. Pure.

The reconciler's role allows stopping machines by the same patterns. `fnmatch` would also read `[ab]` as a choice, and
AWS would deny what the code permits.
"""

import re
from functools import cache

_WILDCARDS = {"*": ".*", "?": "."}


def matches(value: str, pattern: str) -> bool:
    return _compiled(pattern).fullmatch(value) is not None


def has_wildcard(pattern: str) -> bool:
    return any(each in pattern for each in _WILDCARDS)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile("".join(_WILDCARDS.get(each, re.escape(each)) for each in pattern), re.DOTALL)
