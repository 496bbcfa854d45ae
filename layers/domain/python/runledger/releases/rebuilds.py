"""Rebuilds of dependents: one dispatch of a workflow for each dependent of a release line, at most once.

    open the rebuild ── claim the dependent ── call GitHub ── dispatched, with the run
                                                   │ refused: failed
                                                   │ rate limited, not sent: back to waiting, tried later
                                                   │ no response, or the process dies: unknown, never repeated

GitHub has no way to make a dispatch idempotent. So the claim is stored before the call, and only a call that GitHub
can't have executed gives it back. A run that follows an unknown dispatch is found by `lines`.
"""

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from runledger.model.errors import UnavailableError
from runledger.model.packages import LineKey, RebuildStatus
from runledger.platform.clock import SystemClock
from runledger.releases.lines import LOST_RESPONSE, STALE_SECONDS, Lines, is_ready
from runledger.tables.release_lines import LinesTable

LONGEST_MESSAGE = 500
RETRY_SECONDS = 60.0
# Of an installation. A dispatch takes up to three requests, and all functions share the 5,000 or more that GitHub
# allows in an hour. What is beyond fails: if it waited, versions that are published in a loop would never end.
MOST_PER_HOUR = 500
TOO_MANY = f"Not dispatched: the installation has had its {MOST_PER_HOUR} rebuilds of this hour"
NO_APP = "No GitHub App is configured, and only an App can dispatch a workflow"


class GitHub(Protocol):
    """The client of an installation. It is in runledger_github, a layer that this one must not import."""

    def repository(self, repo: str) -> Mapping[str, Any]: ...
    def workflow(self, repo: str, workflow: str) -> Mapping[str, Any]: ...
    def dispatch_workflow(self, repo: str, workflow: str, *, ref: str) -> Mapping[str, Any]: ...


class NotDispatched(Exception):
    """GitHub can't have executed the call: it can be made again after `seconds`."""

    def __init__(self, reason: str, *, seconds: float) -> None:
        super().__init__(reason)
        self.seconds = seconds


class SendLine(Protocol):
    def __call__(self, line: LineKey, *, delay_seconds: float = 0) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebuilds:
    """`github` is None without a GitHub App; `refusals` are its errors that a repetition doesn't change."""

    table: LinesTable
    lines: Lines
    github: Callable[[int], GitHub] | None
    refusals: tuple[type[Exception], ...]
    send: SendLine
    time: SystemClock = field(default_factory=SystemClock)
    new_owner: Callable[[], str] = lambda: uuid.uuid4().hex

    def advance(self, line: LineKey, *, has_time: Callable[[], bool] = lambda: True) -> None:
        """Dispatches every dependent that waits for nothing."""
        dependents = self.lines.settle(line)
        if any(each["status"] == RebuildStatus.DISPATCHING for each in dependents):
            # Its process may be dead: then nothing else would ever look at this claim again.
            self.send(line, delay_seconds=STALE_SECONDS + 1)
        ready = [each for each in dependents if is_ready(each, dependents)]
        if not ready:
            return
        try:
            for dependent in ready:
                if not has_time():
                    raise NotDispatched("The function is out of time", seconds=0)
                self._dispatch(line, dependent)
        except NotDispatched as later:
            self.send(line, delay_seconds=later.seconds)
        # A refusal blocks others.
        self.lines.settle(line)

    def _dispatch(self, line: LineKey, dependent: Mapping[str, Any]) -> None:
        name, repo = dependent["name"], dependent["repo_full_name"]
        if self.github is None:
            self._fail(line, name, NO_APP, sources=[RebuildStatus.WAITING])
            return
        github = self.github(line.installation_id)
        try:
            workflow, ref = self._target(github, dependent)
        except self.refusals as refusal:
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
        except self.refusals as refusal:
            self._fail(line, name, _reason(dependent, refusal), sources=[RebuildStatus.DISPATCHING], owner=owner)
            return
        except UnavailableError as error:
            if getattr(error, "repeatable", True):
                self.table.release(line, name, owner=owner, message=_shortened(str(error)))
                raise self._not_dispatched(error) from error
            self._unknown(line, name, owner)
            return
        self.table.confirm_run(line, name, owner=owner, run=_run(run))

    def _target(self, github: GitHub, dependent: Mapping[str, Any]) -> tuple[int | None, str]:
        """The id of the workflow, by which its run is found if the response doesn't name it, and the ref."""
        repo = dependent["repo_full_name"]
        workflow_id = github.workflow(repo, dependent["workflow"]).get("id")
        ref = dependent.get("ref") or github.repository(repo).get("default_branch")
        return workflow_id if isinstance(workflow_id, int) else None, str(ref)

    def _not_dispatched(self, error: UnavailableError) -> NotDispatched:
        until = getattr(error, "until", None)
        seconds = until - self.time.now() if isinstance(until, int | float) else RETRY_SECONDS
        return NotDispatched(str(error), seconds=max(seconds, 1))

    def _fail(
        self, line: LineKey, name: str, reason: str, *, sources: list[RebuildStatus], owner: str | None = None
    ) -> None:
        put = {"message": _shortened(reason), "completed_at": self.time.text()}
        self.table.move(line, name, RebuildStatus.FAILED, sources=sources, owner=owner, put=put)

    def _unknown(self, line: LineKey, name: str, owner: str) -> None:
        """Unless its run was seen meanwhile."""
        sources, put = [RebuildStatus.DISPATCHING], {"message": LOST_RESPONSE}
        self.table.move(line, name, RebuildStatus.UNKNOWN, sources=sources, owner=owner, put=put)


def _run(details: Mapping[str, Any]) -> dict[str, Any]:
    """Empty if GitHub is too old to name the run."""
    run_id, url = details.get("workflow_run_id"), details.get("html_url")
    if not isinstance(run_id, int) or isinstance(run_id, bool):
        return {}
    return {"run_id": run_id, "run_html_url": url if isinstance(url, str) else None}


def _reason(dependent: Mapping[str, Any], refusal: Exception) -> str:
    return f"Workflow {dependent['workflow']} of {dependent['repo_full_name']} can't be dispatched: {refusal}"


def _shortened(text: str) -> str:
    return text[:LONGEST_MESSAGE]
