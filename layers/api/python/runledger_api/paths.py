"""Path parameters that contain slashes, such as package names.

API Gateway decodes the path, but a route parameter is one path segment. So a value with a slash is encoded again.
"""

import re
from urllib.parse import quote, unquote

# A task ARN contains slashes.
RUNNER = re.compile(r"(/admin/orphans/)(.+)(/cleanup)")
# The name of a package may contain slashes; its version can't.
PACKAGE = re.compile(r"(/v1/installations/\d+/)(builds|packages|releases)/(.+)")
SCOPE, ENCODED_SLASH, VERSIONS = "@", "%2f", "versions"


def normalised(path: str) -> str:
    if found := PACKAGE.fullmatch(path):
        segments = found[3].split("/")
        length = _segments_of_name(found[2], segments)
        rest = [_encoded("/".join(segments[:length])), *map(_encoded, segments[length:])]
        return f"{found[1]}{found[2]}/{'/'.join(rest)}"
    return RUNNER.sub(lambda found: found[1] + _encoded(found[2]) + found[3], path)


def _segments_of_name(kind: str, segments: list[str]) -> int:
    """The number of leading segments that form the name, at least one.

    Only the path of a list of builds is ambiguous: if a name without a scope contains a slash, its last segment is read
    as the version. A slash that was encoded twice is still encoded here, so it is part of the name.
    """
    if ENCODED_SLASH in segments[0].lower():
        return 1
    if unquote(segments[0]).startswith(SCOPE):
        return min(2, len(segments))
    if kind == "packages":
        if segments[-1] == VERSIONS and len(segments) > 1:
            return len(segments) - 1
        return len(segments) - 2 if len(segments) > 2 and segments[-2] == VERSIONS else len(segments)  # noqa: PLR2004
    return max(1, len(segments) - 1)


def _encoded(text: str) -> str:
    return quote(unquote(text), safe="")
