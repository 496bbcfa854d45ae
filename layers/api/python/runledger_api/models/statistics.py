"""Statistics, pools, repositories and installations."""

from typing import NotRequired

from typing_extensions import TypedDict


class Percentiles(TypedDict):
    """In seconds; exact for up to 1,000 samples, and at most 1 % off for more. Null if there are none."""

    p50: float | None
    p90: float | None
    p99: float | None
    max: float | None
    count: int


class Spot(TypedDict):
    """`share` covers jobs whose machine's lifecycle is known. Savings are null if no price is known."""

    share: float | None
    savings_in_dollars: float | None


class Point(TypedDict):
    """The hour or day, in UTC, that begins at `start`.

    `jobs` counts jobs created in it. `completed`, `succeeded`, `failed` and the percentiles cover jobs that completed
    in it. The cost is what the jobs' machines cost in that time.
    """

    start: str
    jobs: int
    completed: int
    succeeded: int
    failed: int
    queue_p50: float | None
    queue_p90: float | None
    duration_p50: float | None
    duration_p90: float | None
    usage_in_dollars: float | None
    unpriced_seconds: int


class SlowJob(TypedDict):
    repo_full_name: NotRequired[str]
    workflow_name: NotRequired[str]
    job_name: NotRequired[str]
    jobs: int
    p90_seconds: float


class CostlyJob(TypedDict):
    repo_full_name: NotRequired[str]
    workflow_name: NotRequired[str]
    job_name: NotRequired[str]
    jobs: int
    usage_in_dollars: float


class Statistics(TypedDict):
    """`jobs` counts jobs created in the range. `by_status` counts open jobs now, and jobs that completed in the range.

    Rates, percentiles, savings and interruptions cover jobs that completed in the range. `success_rate` is
    `succeeded` / (`succeeded` + `failed`). Cost and machine time cover the range. The cost is null if no price
    is known, and `unpriced_seconds` is the machine time without a price.
    """

    since: str
    until: str
    jobs: int
    by_status: dict[str, int]
    by_conclusion: dict[str, int]
    succeeded: int
    failed: int
    success_rate: float | None
    queue_seconds: Percentiles
    duration_seconds: Percentiles
    usage_in_seconds: int
    usage_in_dollars: float | None
    unpriced_seconds: int
    spot: Spot
    interruptions: int
    series: list[Point]
    slowest: list[SlowJob]
    costliest: list[CostlyJob]
    truncated: bool


class Pool(TypedDict):
    """`jobs` counts jobs that completed in the range. Cost and machine time cover it too. Runner counts are current."""

    pool_name: str
    instance_type: NotRequired[str]
    jobs: int
    runners_active: int
    busy: int
    seconds_used: int
    usage_in_dollars: float | None
    unpriced_seconds: int
    spot_share: float | None
    utilisation: float | None


class Pools(TypedDict):
    items: list[Pool]
    next_cursor: None
    truncated: bool


class Repository(TypedDict):
    repo_full_name: str
    jobs: int


class Repositories(TypedDict):
    items: list[Repository]
    next_cursor: None
    truncated: bool


class Installation(TypedDict):
    installation_id: int
    status: str
    first_seen_at: str
    org_name: NotRequired[str]
    changed_at: NotRequired[str]
    confirmed_at: NotRequired[str]
    repository_selection: NotRequired[str]


class Installations(TypedDict):
    items: list[Installation]
    next_cursor: None


class Me(TypedDict):
    """`id` is unique and recorded as `requested_by`. `installations` is null if the caller has access to all.

    `feed` is whether this deployment has an event feed, `notifications` whether it has notifications, and `releases`
    whether it has heads and releases.
    """

    id: str
    name: str
    role: str
    installations: list[int] | None
    feed: bool
    notifications: bool
    releases: bool
