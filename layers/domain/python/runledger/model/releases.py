"""States and keys of heads, and what follows a publication. Pure."""

from enum import StrEnum
from typing import NamedTuple


class RebuildMode(StrEnum):
    """What follows the publication of a package: the setting `rebuild_dependents`."""

    DRY_RUN = "dry_run"  # the release line shows the plan
    ENFORCE = "enforce"  # workflows are dispatched


class HeadState(StrEnum):
    """The state of a workflow on a branch."""

    GREEN = "green"
    RED = "red"
    NONE = "none"  # no run has succeeded or failed


class DeploymentState(StrEnum):
    PENDING = "pending"
    SUCCESS = "success"
    FAILURE = "failure"
    INACTIVE = "inactive"


class HeadKey(NamedTuple):
    """A workflow on a branch. When a branch becomes the default one, it gets a new head."""

    installation_id: int
    repo_full_name: str
    branch: str
    workflow_id: int
    is_default_branch: bool


class EnvironmentKey(NamedTuple):
    installation_id: int
    repo_full_name: str
    environment: str
