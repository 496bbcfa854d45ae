"""Branch heads: whether their workflows are green, and the runs of their newest commits."""

from typing import Literal, NotRequired

from typing_extensions import TypedDict

State = Literal["green", "red", "none"]


class HeadRun(TypedDict):
    run_id: int
    run_attempt: int
    head_sha: NotRequired[str]
    event: NotRequired[str]
    actor: NotRequired[str]
    status: str
    conclusion: NotRequired[str]
    created_at: NotRequired[str]
    completed_at: NotRequired[str]
    run_html_url: NotRequired[str]


class WorkflowHead(TypedDict):
    """One workflow on one branch. `state` is the result of the newest run that succeeded or failed, or `none`.

    `since` is when the first run of the current streak completed.
    """

    workflow_id: int
    workflow_name: NotRequired[str]
    state: State
    since: str | None


class Head(WorkflowHead):
    """`previous_run` is the run before `last_run`."""

    repo_full_name: str
    branch: str
    is_default_branch: bool
    last_run: HeadRun | None
    last_green_run: HeadRun | None
    previous_run: HeadRun | None


class Heads(TypedDict):
    items: list[Head]
    next_cursor: str | None


class CommitRun(HeadRun):
    workflow_id: int


class CommitRuns(TypedDict):
    head_sha: str
    committed_at: str | None
    runs: list[CommitRun]


class BranchHeads(TypedDict):
    """The newest commits of a branch come first; `truncated` is whether some workflows weren't read in time."""

    repo_full_name: str
    branch: str
    workflows: list[WorkflowHead]
    commits: list[CommitRuns]
    truncated: bool
