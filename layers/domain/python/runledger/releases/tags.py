"""Which packages a tag publishes, and as which version. Pure.

`v1.2.3` publishes every package of the repository that is published by tags. In a repository with several packages, a
tag can name one of them: `@acme/ui@1.2.3`, `ui@1.2.3`, `ui-v1.2.3` or `ui/v1.2.3`.
"""

import re
from collections.abc import Iterable

from runledger.releases.names import is_version

# A version begins with a digit: tags such as `latest` publish nothing.
_is_plain = re.compile(r"v?([0-9][A-Za-z0-9.+_-]*)").fullmatch
SEPARATORS = "@-/"


def published_versions(tag: str, names: Iterable[str]) -> dict[str, str]:
    """Versions by package name. A tag that names a package publishes only that package."""
    found = {name: version for name in names if (version := _version_of(tag, name))}
    if found:
        longest = max(map(len, found))
        return {name: version for name, version in found.items() if len(name) == longest}
    plain = _version(tag)
    return dict.fromkeys(names, plain) if plain else {}


def _version_of(tag: str, name: str) -> str | None:
    for prefix in (name, name.rpartition("/")[2]):
        rest = tag.removeprefix(prefix)
        if rest != tag and rest[:1] in tuple(SEPARATORS):
            return _version(rest[1:])
    return None


def _version(text: str) -> str | None:
    found = _is_plain(text)
    return found[1] if found and is_version(found[1]) else None
