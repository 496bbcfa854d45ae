"""Environments: their current and earlier deployments, and the DORA figures."""

from typing import Literal, NotRequired

from typing_extensions import TypedDict


class EnvironmentDeployment(TypedDict):
    """Each time is when GitHub last reported that state."""

    deployment_id: int
    head_sha: NotRequired[str]
    ref: NotRequired[str]
    version: NotRequired[str]
    run_id: NotRequired[int]
    creator: NotRequired[str]
    state: Literal["pending", "success", "failure", "inactive"]
    created_at: NotRequired[str]
    succeeded_at: NotRequired[str]
    failed_at: NotRequired[str]
    inactive_at: NotRequired[str]


class Environment(TypedDict):
    """`current` is the last deployment that succeeded, at `since`. `latest` is the newest one in any state.

    `is_active` is false if GitHub has since reported `current` as inactive. `is_rollback` is whether its commit was
    already deployed before, and then replaced by another one.
    """

    repo_full_name: str
    environment: str
    is_production: bool
    is_active: bool
    current: EnvironmentDeployment | None
    since: str | None
    is_rollback: bool
    previous: EnvironmentDeployment | None
    rollback_targets: list[EnvironmentDeployment]
    latest: EnvironmentDeployment | None


class Environments(TypedDict):
    items: list[Environment]
    next_cursor: str | None


class EnvironmentHistory(Environment):
    deployments: list[EnvironmentDeployment]
    next_cursor: str | None


class Percentiles(TypedDict):
    """In milliseconds, exact. Null if there are no samples."""

    p50: int | None
    p90: int | None
    count: int


class DoraPoint(TypedDict):
    """The day or week, in UTC, that begins at `start`."""

    start: str
    deployments: int
    failed_deployments: int
    lead_time_p50_in_ms: int | None


class DoraFigures(TypedDict):
    """docs/definitions.md defines each figure. Null means unknown."""

    repo_full_name: str
    environment: str
    deployments: int
    deployments_per_day: float
    lead_time_in_ms: Percentiles
    failed_deployments: int
    rolled_back_deployments: int
    change_failure_rate: float | None
    time_to_restore_in_ms: Percentiles
    over_time: list[DoraPoint]


class Dora(TypedDict):
    """`truncated` is whether there were too many deployments or environments to read in time."""

    since: str
    until: str
    truncated: bool
    items: list[DoraFigures]
