"""Packages, their versions, and release lines."""

from typing import Literal, NotRequired

from pydantic import with_config
from typing_extensions import TypedDict

from runledger_api.models.builds import STRICT, Build

PublishedBy = Literal["registry_package", "release", "tag", "api"]


@with_config(STRICT)
class PackageReport(TypedDict):
    """`workflow` is the file name or id of the workflow that rebuilds the package, on the branch or tag `ref`.

    `dependencies` maps package names to npm version ranges.
    """

    repo_full_name: str
    published_by: NotRequired[PublishedBy]
    workflow: NotRequired[str]
    ref: NotRequired[str]
    description: NotRequired[str]
    dependencies: NotRequired[dict[str, str]]
    metadata: NotRequired[dict[str, str]]


class Package(TypedDict):
    """`version` is the latest one that was published."""

    name: str
    repo_full_name: str
    published_by: PublishedBy
    workflow: NotRequired[str]
    ref: NotRequired[str]
    description: NotRequired[str]
    dependencies: dict[str, str]
    metadata: dict[str, str]
    version: NotRequired[str]
    published_at: NotRequired[str]
    created_at: str
    updated_at: str


class Packages(TypedDict):
    items: list[Package]
    next_cursor: str | None


class Dependent(TypedDict):
    name: str
    range: str


class PackageHead(TypedDict):
    """The newest complete build in an environment, and earlier versions. Without one, `version` is absent."""

    environment: str
    version: NotRequired[str]
    previous_version: NotRequired[str]
    completed_at: NotRequired[str]
    rollback_versions: list[str]


class PackageDetails(Package):
    dependents: list[Dependent]
    heads: list[PackageHead]


@with_config(STRICT)
class VersionReport(TypedDict):
    """`dependencies` replace those of the package, if this is its latest version."""

    head_sha: NotRequired[str]
    run_id: NotRequired[int]
    dependencies: NotRequired[dict[str, str]]


class AcceptedVersion(TypedDict):
    name: str
    version: str


class ReleasedWith(TypedDict):
    name: str
    version: str


class Version(TypedDict):
    """`released_with` is the release for which a rebuild published this version."""

    version: str
    released_with: NotRequired[ReleasedWith]
    published_at: str
    published_by: NotRequired[str]
    previous_version: NotRequired[str]
    head_sha: NotRequired[str]
    run_id: NotRequired[int]


class Versions(TypedDict):
    items: list[Version]
    next_cursor: str | None


LineStatus = Literal["published", "planned", "rebuilding", "completed", "failed", "refused"]
RebuildStatus = Literal[
    "planned", "waiting", "dispatching", "dispatched", "succeeded", "failed", "blocked", "skipped", "unknown"
]


class Rebuild(TypedDict):
    """The rebuild of a dependent. `unknown` means that GitHub may have received the dispatch, which isn't repeated."""

    name: str
    range: str
    repo_full_name: NotRequired[str]
    workflow: NotRequired[str]
    status: RebuildStatus
    depends_on: list[str]
    run_id: NotRequired[int]
    run_html_url: NotRequired[str]
    dispatched_at: NotRequired[str]
    completed_at: NotRequired[str]
    dependent_version: NotRequired[str]
    message: NotRequired[str]


class ReleaseLine(TypedDict):
    """A published version and the rebuilds of its dependents.

    `progress` is the share of dependents that have ended, from 0 to 1; null if there are none. With the mode `dry_run`,
    the rebuilds are planned and nothing is dispatched.
    """

    name: str
    version: str
    previous_version: NotRequired[str]
    status: LineStatus
    mode: Literal["dry_run", "enforce"]
    message: NotRequired[str]
    published_at: str
    completed_at: NotRequired[str]
    total_dependents: int
    finished_dependents: int
    failed_dependents: int
    progress: float | None


class ReleaseLines(TypedDict):
    items: list[ReleaseLine]
    next_cursor: str | None


class ReleaseDetails(ReleaseLine):
    dependents: list[Rebuild]
    builds: list[Build]
