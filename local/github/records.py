"""The records of the simulation, with only the fields that tests and the demo control."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """The App on one account; its tokens give access to that account only, as on GitHub."""

    id: int
    account: str
    account_type: str = "Organization"
    created_at: str
    suspended_at: str | None = None
    repository_selection: str = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A workflow run; without its own `status` it follows its jobs."""

    id: int
    repository: str
    run_attempt: int = 1
    run_number: int = 1
    name: str = "CI"
    path: str = ".github/workflows/ci.yml"
    workflow_id: int = 1
    event: str = "push"
    head_branch: str = "main"
    head_sha: str = "0" * 40
    committed_at: str | None = None
    actor: str = "octocat"
    status: str | None = None
    conclusion: str | None = None
    created_at: str
    updated_at: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A job in one attempt of a run; the run must exist."""

    id: int
    run_id: int
    run_attempt: int = 1
    name: str = "build"
    status: str = "queued"
    conclusion: str | None = None
    labels: list[str] = field(default_factory=lambda: ["self-hosted", "linux"])
    created_at: str
    started_at: str | None = None
    completed_at: str | None = None
    runner_id: int | None = None
    runner_name: str | None = None
    runner_group_id: int | None = None
    runner_group_name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Runner:
    """A self-hosted runner of an organisation (`acme`) or of one repository (`acme/web`)."""

    id: int
    scope: str
    name: str
    os: str = "linux"
    status: str = "online"
    busy: bool = False
    ephemeral: bool = True
    runner_group_id: int = 1
    labels: list[str] = field(default_factory=lambda: ["self-hosted", "linux"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """A deployment to an environment; each of `statuses` has a `state` and may have a `created_at`, oldest first."""

    id: int
    repository: str
    environment: str
    run_id: int | None = None
    awaits_approval: bool = False
    reviewers: list[str] = field(default_factory=list)
    statuses: list[dict[str, str]] = field(default_factory=list)
    sha: str = "0" * 40
    ref: str = "main"
    creator: str = "octocat"
    created_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Workflow:
    """A workflow that can be dispatched. Its runs end with its `conclusion` at once; without one they stay queued."""

    id: int
    repository: str
    path: str = ".github/workflows/ci.yml"
    name: str = "CI"
    state: str = "active"
    conclusion: str | None = None
    created_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One attempt to deliver a webhook, with the exact bytes: a redelivery sends the same ones."""

    id: int
    guid: str
    event: str
    body: bytes
    redelivery: bool
    delivered_at: str
    duration: float
    status: str
    status_code: int
    request_headers: dict[str, str]
    response_headers: dict[str, str] | None
    response_body: str | None


Record = Installation | Run | Job | Runner | Deployment | Workflow

COLLECTIONS: dict[str, type[Record]] = {
    "installations": Installation,
    "runs": Run,
    "jobs": Job,
    "runners": Runner,
    "deployments": Deployment,
    "workflows": Workflow,
}
