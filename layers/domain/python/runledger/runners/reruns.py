"""Interrupted jobs are re-run: one "re-run failed jobs" request for the run, exactly once.

    claim the run ── is there a newer attempt? ── which jobs failed? ── call GitHub ── history ── store the result
                             │ yes: requested already, by us before a crash or by a person

GitHub's newest attempt shows whether the request was made. So a request whose response was lost is not repeated.
"""

import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from runledger.model.errors import UnavailableError
from runledger.model.inputs import EventType, Facts, Receipt, Source
from runledger.model.reports import RerunCheck
from runledger.platform.clock import SystemClock
from runledger.recording.decision import RERUN_CONCLUSIONS, Decision
from runledger.tables.rerun_claims import Rerun, RerunClaims

CLAIM_SECONDS = 60
CANCELLED = "cancelled"
FORBIDDEN = 403
# The queue tries five times, six minutes apart. Before the last try, a 403 may mean that the run is not finished.
FORBIDDEN_FOR_SECONDS = 20 * 60


class GitHub(Protocol):
    """The client of an installation. It is in runledger_github, a layer that this one must not import."""

    def run(self, repo: str, run_id: int, attempt: int | None = None) -> Mapping[str, Any]: ...
    def run_jobs(self, repo: str, run_id: int, attempt: int) -> Iterable[Mapping[str, Any]]: ...
    def rerun_failed_jobs(self, repo: str, run_id: int) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Reruns:
    claims: RerunClaims
    record: Callable[[Receipt], Decision]
    github: Callable[[int], GitHub]
    refusals: tuple[type[Exception], ...]
    at_most: int
    own_failures_too: bool = False
    time: SystemClock = field(default_factory=SystemClock)
    new_owner: Callable[[], str] = lambda: uuid.uuid4().hex

    def consider(self, check: RerunCheck) -> str:
        """The result, for the log."""
        if check.run_attempt > self.at_most:
            return "enough"
        until = self.time.text(seconds_from_now=CLAIM_SECONDS)
        owner = self.new_owner()
        rerun = self.claims.claim(check, owner=owner, at=self.time.text(), until=until)
        if rerun.result:
            return rerun.result
        if not rerun.claimed:
            return "being considered"  # by another process, which checks for new jobs before it releases the claim
        while (result := self._request(check, rerun)) is None:
            more = self.claims.release(check, seen=rerun, owner=owner)
            if more is None:
                return "failed for its own reason"
            rerun = more
        self._record_result(check, rerun, result)
        self.claims.finish(check, result=result)
        return result

    def _request(self, check: RerunCheck, rerun: Rerun) -> str | None:
        """None if a job failed for its own reason, as far as the recorded inputs show."""
        github = self.github(check.installation_id)
        now = github.run(check.repo_full_name, check.run_id)
        if int(now.get("run_attempt") or 1) > check.run_attempt:
            return "requested"
        if now.get("status") != "completed":
            raise UnavailableError(f"run {check.run_id} is not finished yet on GitHub")
        if now.get("conclusion") == CANCELLED:
            return "the run was cancelled"  # possibly by a person: GitHub does not report by whom
        jobs = github.run_jobs(check.repo_full_name, check.run_id, check.run_attempt)
        failed = {int(job["id"]) for job in jobs if job.get("conclusion") in RERUN_CONCLUSIONS}
        if not self.own_failures_too and failed - rerun.cut_short_job_ids:
            return None
        try:
            github.rerun_failed_jobs(check.repo_full_name, check.run_id)
        except self.refusals as refusal:
            if getattr(refusal, "status", None) == FORBIDDEN and not self._was_tried_long(rerun):
                # GitHub also responds with 403 while it finishes the run.
                raise UnavailableError(f"run {check.run_id} cannot be run again yet: {refusal}") from refusal
            return f"refused: {refusal}"
        return "requested"

    def _was_tried_long(self, rerun: Rerun) -> bool:
        return rerun.first_claimed_at <= self.time.text(seconds_from_now=-FORBIDDEN_FOR_SECONDS)

    def _record_result(self, check: RerunCheck, rerun: Rerun, result: str) -> None:
        event_type = EventType.RERUN_REQUESTED if result == "requested" else EventType.RERUN_REFUSED
        for job_id in sorted(rerun.cut_short_job_ids):
            self.record(
                Receipt(
                    installation_id=check.installation_id,
                    job_id=job_id,
                    delivery_id=f"rerun of {check.run_id} after {check.run_attempt}",
                    received_at=rerun.first_claimed_at,
                    event_type=event_type,
                    source=Source.INTERNAL,
                    action=result,
                    facts=Facts(),
                )
            )
