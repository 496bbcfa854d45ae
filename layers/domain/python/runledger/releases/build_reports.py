"""What a publisher reports about one variant of a build. Pure."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from runledger.model.errors import Malformed
from runledger.model.packages import VariantStatus
from runledger.releases import names

DEFAULT_VARIANT = "default"
MOST_ARTIFACTS, MOST_VARIANTS = 100, 1000
LONGEST_MESSAGE, LONGEST_DETAILS, LONGEST_URL, LONGEST_FILE_NAME = 1000, 4000, 2000, 200
# An artifact is larger than this in no registry, and every reader can represent the number exactly.
LARGEST_ARTIFACT = 2**53 - 1
_is_sha256 = re.compile(r"[0-9a-f]{64}").fullmatch


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    name: str
    sha256: str
    url: str | None = None
    size: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildReport:
    """`variants` is how many the build has, if the publisher names it."""

    name: str
    version: str
    environment: str
    status: VariantStatus
    variant: str = DEFAULT_VARIANT
    variants: int | None = None
    message: str | None = None
    details: str | None = None
    artifacts: tuple[Artifact, ...] = ()
    run_id: int | None = None
    head_sha: str | None = None
    repo_full_name: str | None = None


def build_report(name: str, version: str, body: Mapping[str, Any]) -> BuildReport:
    """Malformed, with the name of the field, if one isn't accepted."""
    for required in ("environment", "status"):
        if body.get(required) is None:
            raise Malformed(required, "is missing")
    given = {field: value for field, value in body.items() if value is not None}
    if unknown := given.keys() - READERS.keys():
        raise Malformed(min(unknown), "isn't a field of this request")
    read = {field: READERS[field](value, field=field) for field, value in given.items()}
    if read.get("artifacts") and read["status"] is VariantStatus.STARTED:
        raise Malformed("artifacts", "must be reported with the status completed or failed")
    return BuildReport(name=names.package_name(name), version=names.version(version), **read)


def _status(value: Any, *, field: str) -> VariantStatus:
    try:
        return VariantStatus(value)
    except ValueError:
        raise Malformed(field, "must be started, completed or failed") from None


def _artifacts(value: Any, *, field: str) -> tuple[Artifact, ...]:
    if not isinstance(value, list) or len(value) > MOST_ARTIFACTS:
        raise Malformed(field, f"must be a list of at most {MOST_ARTIFACTS} artifacts")
    found = tuple(_artifact(each, f"{field}.{n}") for n, each in enumerate(value))
    for n, each in enumerate(found):
        if any(each.name == other.name for other in found[:n]):
            raise Malformed(f"{field}.{n}.name", "must be unique in its variant")
    return found


def _artifact(value: Any, field: str) -> Artifact:
    if not isinstance(value, Mapping):
        raise Malformed(field, "must be a JSON object")
    if unknown := set(value) - {"name", "url", "sha256", "size"}:
        raise Malformed(f"{field}.{min(unknown)}", "isn't a field of this request")
    fingerprint, url, size = value.get("sha256"), value.get("url"), value.get("size")
    if not (isinstance(fingerprint, str) and _is_sha256(fingerprint.lower())):
        raise Malformed(f"{field}.sha256", "must be a SHA-256 of 64 hexadecimal digits")
    return Artifact(
        name=names.text(value.get("name"), field=f"{field}.name", longest=LONGEST_FILE_NAME),
        sha256=fingerprint.lower(),
        url=None if url is None else _url(url, f"{field}.url"),
        size=None if size is None else names.number(size, field=f"{field}.size", most=LARGEST_ARTIFACT),
    )


def _url(value: Any, field: str) -> str:
    """Readers show it as a link: no other scheme, and no user before the host, which would disguise it."""
    problem = Malformed(field, f"must be an https URL of at most {LONGEST_URL} characters, without a user")
    if not isinstance(value, str) or len(value) > LONGEST_URL or not value.isascii() or not value.isprintable():
        raise problem
    try:
        parts = urlsplit(value)
        is_valid = parts.scheme == "https" and bool(parts.hostname) and "@" not in parts.netloc and parts.port != 0
    except ValueError:
        raise problem from None
    if not is_valid or not value.startswith("https://") or any(each in value for each in " \\<>\"'`"):
        raise problem
    return value


READERS: Mapping[str, Callable[..., Any]] = {
    "environment": names.text,
    "status": _status,
    "variant": names.text,
    "variants": partial(names.number, least=1, most=MOST_VARIANTS),
    "message": partial(names.text, longest=LONGEST_MESSAGE),
    "details": partial(names.prose, longest=LONGEST_DETAILS),
    "artifacts": _artifacts,
    "run_id": names.number,
    "head_sha": names.commit,
    "repo_full_name": names.repository,
}
