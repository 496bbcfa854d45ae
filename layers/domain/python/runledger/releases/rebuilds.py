"""Rebuilds of dependents: dispatches a workflow for each dependent of a release line, at most once.

    open the rebuild ── claim the dependent ── call GitHub ── dispatched, with the run
                                                   │ refused: failed
                                                   │ rate limited, not sent: back to waiting, retried later
                                                   │ no response, or the process dies: unknown, never repeated

GitHub can't make a dispatch idempotent. So the claim is stored before the call, and it is given back only if GitHub
can't have executed the call. `lines` finds the run of an unknown dispatch.
"""

import uuid
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, Protocol

from runledger.model.dataclass import dataclass
from runledger.model.errors import GitHubRefusal, RateLimited, UnavailableError
from runledger.model.packages import LineKey, RebuildStatus
from runledger.platform.clock import SystemClock
from runledger.releases.lines import LOST_RESPONSE, STALE_SECONDS, Lines, is_ready
from runledger.tables.release_lines import LinesTable

LONGEST_MESSAGE = 500
RETRY_SECONDS = 60.0
# For one installation. A dispatch takes up to three requests, and all functions share the 5,000 or more requests that
# GitHub allows per hour. Rebuilds beyond this limit fail. If they waited, a publishing loop would never end.
MOST_PER_HOUR = 500
TOO_MANY = f"Not dispatched: the installation has reached its limit of {MOST_PER_HOUR} rebuilds per hour"
NO_APP = "No GitHub App is configured, and only an App can dispatch a workflow"


class WorkflowClient(Protocol):
    """The GitHub client of an installation. runledger_github implements it; this layer must not import that one."""

    def repository(self, repo: str) -> Mapping[str, Any]: ...
    def workflow(self, repo: str, workflow: str) -> Mapping[str, Any]: ...
    def dispatch_workflow(self, repo: str, workflow: str, *, ref: str) -> Mapping[str, Any]: ...


class NotDispatched(Exception):
    """GitHub can't have executed the call, so it can be repeated after `seconds`."""

    def __init__(self, reason: str, *, seconds: float) -> None:
        super().__init__(reason)
        self.seconds = seconds


class SendLine(Protocol):
    def __call__(self, line: LineKey, *, delay_seconds: float = 0) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebuilds:
    """`github` is None without a GitHub App."""

    table: LinesTable
    lines: Lines
    github: Callable[[int], WorkflowClient] | None
    send: SendLine
    time: SystemClock = field(default_factory=SystemClock)
    new_owner: Callable[[], str] = lambda: uuid.uuid4().hex

    def advance(self, line: LineKey, *, has_time: Callable[[], bool] = lambda: True) -> None:
        """Dispatches every dependent that is ready."""
        dependents = self.lines.settle(line)
        if any(each["status"] == RebuildStatus.DISPATCHING for each in dependents):
            # Its process may have died, and nothing else would look at this claim again.
            self.send(line, delay_seconds=STALE_SECONDS + 1)
        ready = [each for each in dependents if is_ready(each, dependents)]
        if not ready:
            return
        try:
            for dependent in ready:
                if not has_time():
                    raise NotDispatched("The function has no time left", seconds=0)
                self._dispatch(line, dependent)
        except NotDispatched as later:
            self.send(line, delay_seconds=later.seconds)
        # A refusal may have blocked other dependents.
        self.lines.settle(line)

    def _dispatch(self, line: LineKey, dependent: Mapping[str, Any]) -> None:
        name, repo = dependent["name"], dependent["repo_full_name"]
        if self.github is None:
            self._fail(line, name, NO_APP, sources=[RebuildStatus.WAITING])
            return
        github = self.github(line.installation_id)
        try:
            workflow, ref = self._target(github, dependent)
        except GitHubRefusal as refusal:
            self._fail(line, name, _reason(dependent, refusal), sources=[RebuildStatus.WAITING])
            return
        except UnavailableError as error:
            raise self._not_dispatched(error) from error
        owner, at = self.new_owner(), self.time.text()
        if not self.table.count_dispatch(line.installation_id, at=at, most=MOST_PER_HOUR):
            self._fail(line, name, TOO_MANY, sources=[RebuildStatus.WAITING])
            return
        self.table.open_rebuild(line, name, repo_full_name=repo, at=at)
        if not self.table.claim(line, name, owner=owner, at=at, workflow_id=workflow):
            return
        try:
            run = github.dispatch_workflow(repo, dependent["workflow"], ref=ref)
        except GitHubRefusal as refusal:
            self._fail(line, name, _reason(dependent, refusal), sources=[RebuildStatus.DISPATCHING], owner=owner)
            return
        except UnavailableError as error:
            if not error.repeatable:
                self._unknown(line, name, owner)
                return
            self.table.release(line, name, owner=owner, message=_shortened(str(error)))
            raise self._not_dispatched(error) from error
        self.table.confirm_run(line, name, owner=owner, run=_run(run))

    def _target(self, github: WorkflowClient, dependent: Mapping[str, Any]) -> tuple[int | None, str]:
        """The workflow's id and the ref. The id serves to find the run if GitHub's response doesn't name it."""
        repo = dependent["repo_full_name"]
        workflow_id = github.workflow(repo, dependent["workflow"]).get("id")
        ref = dependent.get("ref") or github.repository(repo).get("default_branch")
        return workflow_id if isinstance(workflow_id, int) else None, str(ref)

    def _not_dispatched(self, error: UnavailableError) -> NotDispatched:
        seconds = error.until - self.time.now() if isinstance(error, RateLimited) else RETRY_SECONDS
        return NotDispatched(str(error), seconds=max(seconds, 1))

    def _fail(
        self, line: LineKey, name: str, reason: str, *, sources: list[RebuildStatus], owner: str | None = None
    ) -> None:
        put = {"message": _shortened(reason), "completed_at": self.time.text()}
        self.table.move(line, name, RebuildStatus.FAILED, sources=sources, owner=owner, put=put)

    def _unknown(self, line: LineKey, name: str, owner: str) -> None:
        """Does nothing if its run has been found in the meantime."""
        sources, put = [RebuildStatus.DISPATCHING], {"message": LOST_RESPONSE}
        self.table.move(line, name, RebuildStatus.UNKNOWN, sources=sources, owner=owner, put=put)


def _run(details: Mapping[str, Any]) -> dict[str, Any]:
    """Empty if this version of GitHub doesn't return the run."""
    run_id, url = details.get("workflow_run_id"), details.get("html_url")
    if not isinstance(run_id, int) or isinstance(run_id, bool):
        return {}
    return {"run_id": run_id, "run_html_url": url if isinstance(url, str) else None}


def _reason(dependent: Mapping[str, Any], refusal: GitHubRefusal) -> str:
    return f"Workflow {dependent['workflow']} of {dependent['repo_full_name']} can't be dispatched: {refusal}"


def _shortened(text: str) -> str:
    return text[:LONGEST_MESSAGE]
