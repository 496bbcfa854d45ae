"""Builds of packages: variants, artifacts and events."""

from typing import Literal, NotRequired

from pydantic import ConfigDict, with_config
from typing_extensions import TypedDict

# A misspelt field is an error: without its total, a build would show a wrong progress.
STRICT = ConfigDict(extra="forbid")
BuildStatus = Literal["building", "completed", "failed"]


@with_config(STRICT)
class ReportedArtifact(TypedDict):
    """`url` is an https URL, `sha256` the fingerprint in hexadecimal digits, and `size` is in bytes."""

    name: str
    url: NotRequired[str]
    sha256: str
    size: NotRequired[int]


@with_config(STRICT)
class BuildReport(TypedDict):
    """One variant of a build. `variants` is the number of variants of the build.

    Until a report has `variants`, the progress is unknown. The variant `default` is a whole build and needs no number.
    """

    environment: str
    status: Literal["started", "completed", "failed"]
    variant: NotRequired[str]
    variants: NotRequired[int]
    message: NotRequired[str]
    details: NotRequired[str]
    artifacts: NotRequired[list[ReportedArtifact]]
    run_id: NotRequired[int]
    head_sha: NotRequired[str]
    repo_full_name: NotRequired[str]


class Build(TypedDict):
    """`progress` is the share of variants that completed, from 0 to 1; null while the number of variants is unknown.

    `error` is whether a variant has failed.
    """

    name: str
    version: str
    environment: str
    status: BuildStatus
    total_variants: int | None
    completed_variants: int
    failed_variants: int
    progress: float | None
    error: bool
    created_at: str
    updated_at: str
    completed_at: str | None
    previous_version: str | None
    run_id: int | None
    head_sha: str | None
    repo_full_name: str | None


class Builds(TypedDict):
    items: list[Build]
    next_cursor: str | None


class Artifact(TypedDict):
    name: str
    url: NotRequired[str]
    sha256: str
    size: NotRequired[int]


class Variant(TypedDict):
    variant: str
    status: str
    message: NotRequired[str]
    details: NotRequired[str]
    run_id: NotRequired[int]
    artifacts: list[Artifact]
    reported_at: str


class BuildEvent(TypedDict):
    event_id: str
    occurred_at: str
    variant: str
    status: str
    message: NotRequired[str]
    details: NotRequired[str]
    run_id: NotRequired[int]


class BuildDetails(Build):
    """At most 1,000 variants, in the order of their names, and the newest 200 events."""

    variants: list[Variant]
    events: list[BuildEvent]


class File(TypedDict):
    """An artifact with this fingerprint, and the build that it belongs to."""

    package: str
    version: str
    environment: str
    variant: str
    name: str
    url: NotRequired[str]
    sha256: str
    size: NotRequired[int]
    reported_at: str


class Files(TypedDict):
    items: list[File]
    next_cursor: str | None
