"""Paths of requests: the role that a write requires, and parameters with slashes.

API Gateway decodes the path, but a route parameter is one path segment: what contains a slash is encoded again.
"""

import re
from urllib.parse import quote, unquote

from runledger_api.authentication import Role

# Publishers post events and acknowledge what they have read, and report builds, packages and versions. Every other
# write is for operators.
PUBLISHED = {
    "POST": re.compile(r"/v1/installations/\d+/feed(/|$)"),
    "PUT": re.compile(r"/v1/installations/\d+/(builds|packages)/"),
}
READ_METHODS = ("GET", "HEAD", "OPTIONS")
# A task ARN contains slashes.
RUNNER = re.compile(r"(/admin/orphans/)(.+)(/cleanup)")
# The name of a package may contain slashes; its version can't.
PACKAGE = re.compile(r"(/v1/installations/\d+/)(builds|packages|releases)/(.+)")
SCOPE, ENCODED_SLASH, VERSIONS = "@", "%2f", "versions"


def required_role(method: str, path: str) -> Role:
    if method in READ_METHODS:
        return Role.READER
    by_publishers = PUBLISHED.get(method)
    return Role.PUBLISHER if by_publishers and by_publishers.match(path) else Role.OPERATOR


def normalised(path: str) -> str:
    if found := PACKAGE.fullmatch(path):
        segments = found[3].split("/")
        length = _segments_of_name(found[2], segments)
        rest = [_encoded("/".join(segments[:length])), *map(_encoded, segments[length:])]
        return f"{found[1]}{found[2]}/{'/'.join(rest)}"
    return RUNNER.sub(lambda found: found[1] + _encoded(found[2]) + found[3], path)


def _segments_of_name(kind: str, segments: list[str]) -> int:
    """How many segments at the beginning are the name. At least one.

    Only a list of builds is ambiguous, if the name has no scope but a slash: its last segment is read as a version. A
    slash that is encoded twice is still encoded here, and part of the name.
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
