"""Settings and states of releases. Pure."""

from enum import StrEnum


class RebuildMode(StrEnum):
    """What follows the publication of a package: the setting `rebuild_dependents`."""

    DRY_RUN = "dry_run"  # the release line shows the plan
    ENFORCE = "enforce"  # workflows are dispatched


class HeadState(StrEnum):
    """Of a workflow on a branch."""

    GREEN = "green"
    RED = "red"
    NONE = "none"  # no run has succeeded or failed


class DeploymentState(StrEnum):
    PENDING = "pending"
    SUCCESS = "success"
    FAILURE = "failure"
    INACTIVE = "inactive"
