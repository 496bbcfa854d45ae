"""Packages, their publications and builds, and release lines. Pure."""

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from typing import Any, NamedTuple

from runledger.model.dataclass import dataclass

# npm's limit for names; the other limits are Runledger's.
LONGEST_NAME, LONGEST_RANGE, MOST_DEPENDENCIES = 214, 200, 200
# Reports of builds, packages and versions in an installation. The 500 variants of a build may complete at once.
REPORTS_PER_MINUTE = 2000


class PublishedBy(StrEnum):
    """Which event publishes the versions of a package."""

    REGISTRY_PACKAGE = "registry_package"
    RELEASE = "release"
    TAG = "tag"
    API = "api"


class BuildStatus(StrEnum):
    BUILDING = "building"
    COMPLETED = "completed"
    FAILED = "failed"


class VariantStatus(StrEnum):
    """The reported status of a variant. `completed` is final: a `failed` that arrives after it changes nothing."""

    STARTED = "started"
    COMPLETED = "completed"
    FAILED = "failed"


class LineStatus(StrEnum):
    PUBLISHED = "published"  # nothing depends on it
    PLANNED = "planned"  # dry run
    REBUILDING = "rebuilding"
    COMPLETED = "completed"
    FAILED = "failed"
    REFUSED = "refused"  # the dependencies form a cycle, or are too many


class RebuildStatus(StrEnum):
    """The status of a dependent in a release line."""

    PLANNED = "planned"  # dry run
    WAITING = "waiting"  # for the packages that it depends on, or for GitHub's rate limit
    DISPATCHING = "dispatching"  # claimed: GitHub is being called
    DISPATCHED = "dispatched"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    BLOCKED = "blocked"  # a package that it depends on has failed
    SKIPPED = "skipped"  # it has no workflow to dispatch
    UNKNOWN = "unknown"  # GitHub may have received the call: it is never repeated


ENDED_REBUILDS = frozenset(
    {RebuildStatus.SUCCEEDED, RebuildStatus.FAILED, RebuildStatus.BLOCKED, RebuildStatus.SKIPPED},
)
FAILED_REBUILDS = frozenset({RebuildStatus.FAILED, RebuildStatus.BLOCKED})
# Rebuilds whose run may not be known yet, in the order in which a run is assigned: an unknown dispatch may never have
# reached GitHub.
AWAITING_RUN = (RebuildStatus.DISPATCHED, RebuildStatus.DISPATCHING, RebuildStatus.UNKNOWN)


class BuildKey(NamedTuple):
    installation_id: int
    name: str
    environment: str
    version: str


class LineKey(NamedTuple):
    installation_id: int
    name: str
    version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    installation_id: int
    name: str
    repo_full_name: str
    published_by: PublishedBy
    workflow: str | None = None  # its file name or id; without one, the package isn't rebuilt
    ref: str | None = None  # the branch or tag of a rebuild; None for the default branch
    description: str | None = None
    dependencies: Mapping[str, str] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """For a release or tag, `tag` determines which packages are published, and as which version.

    The other kinds have `package_name` and `package_version`.
    """

    installation_id: int
    repo_full_name: str
    published_by: PublishedBy
    published_at: str
    tag: str | None = None
    package_name: str | None = None
    package_version: str | None = None
    ecosystem: str | None = None
    head_sha: str | None = None
    run_id: int | None = None
    dependencies: Mapping[str, Any] | None = None
