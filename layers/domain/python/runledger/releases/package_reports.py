"""What a publisher reports about a package and its versions. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from runledger.model.errors import Malformed
from runledger.model.packages import LONGEST_RANGE, MOST_DEPENDENCIES, PublishedBy
from runledger.releases import names

MOST_METADATA = 50
LONGEST_DESCRIPTION, LONGEST_METADATA, LONGEST_REF = 1000, 1000, 250


@dataclass(frozen=True, slots=True, kw_only=True)
class PackageReport:
    """`workflow` is the file, or the id, of the workflow that rebuilds it, on the branch or tag `ref`."""

    name: str
    repo_full_name: str
    published_by: PublishedBy = PublishedBy.API
    workflow: str | None = None
    ref: str | None = None
    description: str | None = None
    dependencies: Mapping[str, str] = field(default_factory=dict)
    metadata: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionReport:
    """`dependencies` replace those of the package, if they are given."""

    name: str
    version: str
    head_sha: str | None = None
    run_id: int | None = None
    dependencies: Mapping[str, str] | None = None


def package_report(name: str, body: Mapping[str, Any]) -> PackageReport:
    """Malformed, with the name of the field, if one isn't accepted."""
    if body.get("repo_full_name") is None:
        raise Malformed("repo_full_name", "is missing")
    package = names.package_name(name)
    given = {each: _package_field(package, each, value) for each, value in body.items() if value is not None}
    return PackageReport(name=package, **given)


def version_report(name: str, version: str, body: Mapping[str, Any]) -> VersionReport:
    package = names.package_name(name)
    given = {each: _version_field(package, each, value) for each, value in body.items() if value is not None}
    return VersionReport(name=package, version=names.version(version), **given)


def dependencies(package: str, value: Any) -> dict[str, str]:
    if not isinstance(value, Mapping) or len(value) > MOST_DEPENDENCIES:
        raise Malformed("dependencies", f"must be an object of at most {MOST_DEPENDENCIES} names and ranges")
    for name, wanted in value.items():
        names.package_name(name, field="dependencies")
        _short(wanted, field=f"dependencies.{name}", longest=LONGEST_RANGE)
    if package in value:
        raise Malformed("dependencies", "must not contain the package itself")
    return dict(value)


def _package_field(package: str, name: str, value: Any) -> Any:
    match name:
        case "repo_full_name":
            return names.repository(value)
        case "workflow" | "ref":
            return _short(value, field=name, longest=LONGEST_REF)
        case "description":
            return names.prose(value, field=name, longest=LONGEST_DESCRIPTION)
        case "published_by":
            return _published_by(value)
        case "dependencies":
            return dependencies(package, value)
        case "metadata":
            return _metadata(value)
    raise Malformed(name, "isn't a field of this request")


def _short(value: Any, *, field: str, longest: int) -> str:
    """In bytes: the plan of a release line has these texts of a hundred packages, in one item of up to 400 KB."""
    text = names.text(value, field=field, longest=longest)
    if len(text.encode()) > longest:
        raise Malformed(field, f"must have at most {longest} bytes")
    return text


def _version_field(package: str, name: str, value: Any) -> Any:
    match name:
        case "head_sha":
            return names.commit(value)
        case "run_id":
            return names.number(value, field=name)
        case "dependencies":
            return dependencies(package, value)
    raise Malformed(name, "isn't a field of this request")


def _published_by(value: Any) -> PublishedBy:
    try:
        return PublishedBy(value)
    except ValueError:
        raise Malformed("published_by", f"must be one of {', '.join(PublishedBy)}") from None


def _metadata(value: Any) -> dict[str, str]:
    if not isinstance(value, Mapping) or len(value) > MOST_METADATA:
        raise Malformed("metadata", f"must be an object of at most {MOST_METADATA} names and texts")
    for name, text in value.items():
        names.text(name, field="metadata")
        names.prose(text, field=f"metadata.{name}", longest=LONGEST_METADATA)
    return dict(value)
