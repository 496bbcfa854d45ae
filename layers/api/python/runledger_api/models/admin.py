"""Orphaned runners, reconciliation and dead-letter queues."""

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict


class Orphan(TypedDict):
    """A runner without a job. It is cleaned up at `due_at`, unless a job starts on it first.

    Without `due_at` it stays until an operator cleans it up, because the deployment only reports orphans. A machine
    that two installations claim is `contested` and is never cleaned up. `machine_state` is what EC2 or ECS reported in
    the pass that suspected the runner. A runner with the status `unknown_job` isn't an orphan: at `detected_at`, GitHub
    reported it as busy with a job that the ledger doesn't have, and `job_id` is the last job that the ledger has.
    """

    runner_id: str
    status: str
    reason: str
    detected_at: str
    created_at: str
    due_at: NotRequired[str]
    claimed_by: NotRequired[list[int]]
    kind: NotRequired[str]
    installation_id: NotRequired[int]
    job_id: NotRequired[int]
    run_id: NotRequired[int]
    job_status: NotRequired[str]
    job_conclusion: NotRequired[str]
    machine_state: NotRequired[Literal["running", "stopped", "gone"]]
    repo_full_name: NotRequired[str]
    pool_name: NotRequired[str]
    cleaning_owner: NotRequired[str]


class Orphans(TypedDict):
    orphans: list[Orphan]
    total: int


class Accepted(TypedDict):
    """Read the result at GET /admin/reconciliation/{id}."""

    id: str


PassRequest = TypedDict("PassRequest", {"pass": NotRequired[Literal["quick", "full"]]})

Pass = TypedDict(
    "Pass",
    {
        "id": str,
        "pass": str,
        "status": Literal["requested", "running", "finished", "failed"],
        "outcome": NotRequired[Literal["success", "errors", "unfinished"]],
        # The result of a cleanup, as a sentence.
        "result": NotRequired[str],
        "requested_by": NotRequired[str],
        "requested_at": NotRequired[str],
        "started_at": NotRequired[str],
        "finished_at": NotRequired[str],
        "summary": dict[str, Any],
        "text": str,
        "findings": list[Any],
    },
)


class Passes(TypedDict):
    items: list[Pass]
    next_cursor: str | None


class Redelivery(TypedDict):
    """GitHub's ids of the deliveries that are sent again."""

    delivery_ids: list[int]


class DeadLetters(TypedDict):
    queue: str
    messages: int


class DeadLetterQueues(TypedDict):
    items: list[DeadLetters]
    next_cursor: None
