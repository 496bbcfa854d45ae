"""Re-runs failed jobs: sends one "re-run failed jobs" request for the run, exactly once.

    claim the run ── is there a newer attempt? ── which jobs failed? ── call GitHub ── history ── store the result
                             │ yes: already requested, by us before a crash or by a person

GitHub's newest attempt shows whether the request was made. So a request whose response was lost is not repeated.

By default, a run is re-run only if all of its failed jobs were interrupted. With `any_failure` the reason doesn't
matter, but a run with a job behind an environment is never re-run: only a person may repeat a deployment.
"""

import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from typing import Any, Protocol

from runledger.model.dataclass import dataclass
from runledger.model.errors import GitHubRefusal, UnavailableError
from runledger.model.follow_ups import RerunCheck
from runledger.model.inputs import Conclusion, EventType, Facts, Receipt, Source
from runledger.model.job import RERUN_CONCLUSIONS
from runledger.model.keys import RunKey
from runledger.model.reports import RunStatus
from runledger.model.runs import RerunOutcome, RerunPolicy, RerunResult
from runledger.platform.clock import SystemClock
from runledger.recording.decision import Decision
from runledger.tables.rerun_claims import Rerun, RerunClaims

CLAIM_SECONDS = 60
FORBIDDEN = 403
# The queue tries five times, six minutes apart. Before the last try, a 403 may mean that the run is not finished, and
# a 404 that access may be restored.
REFUSED_FOR_SECONDS = 20 * 60


class GitHubRuns(Protocol):
    """The client of an installation. It is in runledger_github, a layer that this one must not import."""

    def run(self, repo: str, run_id: int, attempt: int | None = None) -> Mapping[str, Any]: ...
    def run_jobs(self, repo: str, run_id: int, attempt: int) -> Iterable[Mapping[str, Any]]: ...
    def rerun_failed_jobs(self, repo: str, run_id: int) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Reruns:
    claims: RerunClaims
    record: Callable[[Receipt], Decision]
    github: Callable[[int], GitHubRuns]
    at_most: int
    has_gates: Callable[[RunKey], bool]
    """Whether a job of this attempt is behind an environment."""
    policy: RerunPolicy = RerunPolicy.INTERRUPTED
    time: SystemClock = field(default_factory=SystemClock)
    new_owner: Callable[[], str] = lambda: uuid.uuid4().hex

    def consider(self, check: RerunCheck) -> RerunResult:
        if self.policy is RerunPolicy.NEVER:
            return RerunResult(RerunOutcome.SWITCHED_OFF)
        if check.run_attempt > self.at_most:
            return RerunResult(RerunOutcome.LIMIT_REACHED)
        until = self.time.text(seconds_from_now=CLAIM_SECONDS)
        owner = self.new_owner()
        rerun = self.claims.claim(check, owner=owner, at=self.time.text(), until=until)
        if rerun.result:
            return rerun.result
        if not rerun.claimed:
            return RerunResult(RerunOutcome.IN_PROGRESS)
        try:
            while (result := self._request(check, rerun)) is None:
                more = self.claims.release(check, seen=rerun, owner=owner)
                if more is None:
                    return RerunResult(RerunOutcome.OWN_FAILURE)
                rerun = more
        except GitHubRefusal as refusal:
            # GitHub doesn't return the run: it was deleted, the App was uninstalled, or access was withdrawn for a
            # while.
            result = self._refused(check, rerun, refusal)
        self._record_result(check, rerun, result)
        self.claims.finish(check, result=result)
        return result

    def _request(self, check: RerunCheck, rerun: Rerun) -> RerunResult | None:
        """None if, according to the recorded inputs, a job failed for its own reason."""
        github = self.github(check.installation_id)
        now = github.run(check.repo_full_name, check.run_id)
        if int(now.get("run_attempt") or 1) > check.run_attempt:
            return RerunResult(RerunOutcome.REQUESTED)
        if now.get("status") != RunStatus.COMPLETED:
            raise UnavailableError(f"run {check.run_id} isn't finished yet on GitHub")
        if now.get("conclusion") == Conclusion.CANCELLED:
            return RerunResult(RerunOutcome.CANCELLED)  # possibly by a person: GitHub doesn't report who did it
        jobs = github.run_jobs(check.repo_full_name, check.run_id, check.run_attempt)
        failed = {int(job["id"]) for job in jobs if job.get("conclusion") in RERUN_CONCLUSIONS}
        if self.policy is RerunPolicy.INTERRUPTED and failed - rerun.cut_short_job_ids:
            return None
        if self.policy is RerunPolicy.ANY_FAILURE and (obstacle := self._obstacle(check, failed)):
            return obstacle
        return self._call(check, rerun, github)

    def _call(self, check: RerunCheck, rerun: Rerun, github: GitHubRuns) -> RerunResult:
        try:
            github.rerun_failed_jobs(check.repo_full_name, check.run_id)
        except GitHubRefusal as refusal:
            if refusal.status == FORBIDDEN:
                # GitHub also responds with 403 while it finishes the run.
                return self._refused(check, rerun, refusal)
            return RerunResult(RerunOutcome.REFUSED, str(refusal))
        return RerunResult(RerunOutcome.REQUESTED)

    def _refused(self, check: RerunCheck, rerun: Rerun, refusal: GitHubRefusal) -> RerunResult:
        """Retried later.

        The last try stores the refusal, because a message that never succeeds becomes a dead letter.
        """
        if not self._was_tried_long(rerun):
            raise UnavailableError(f"run {check.run_id} can't be re-run yet: {refusal}") from refusal
        return RerunResult(RerunOutcome.REFUSED, str(refusal))

    def _obstacle(self, check: RerunCheck, failed: set[int]) -> RerunResult | None:
        """Why the jobs are not re-run. All attempts count: a partial re-run carries over jobs that succeeded before."""
        if not failed:
            return RerunResult(RerunOutcome.NO_FAILED_JOBS)
        runs = (RunKey(check.installation_id, check.run_id, 1 + each) for each in range(check.run_attempt))
        return RerunResult(RerunOutcome.BEHIND_AN_ENVIRONMENT) if any(map(self.has_gates, runs)) else None

    def _was_tried_long(self, rerun: Rerun) -> bool:
        return rerun.first_claimed_at <= self.time.text(seconds_from_now=-REFUSED_FOR_SECONDS)

    def _record_result(self, check: RerunCheck, rerun: Rerun, result: RerunResult) -> None:
        requested = result.outcome is RerunOutcome.REQUESTED
        event_type = EventType.RERUN_REQUESTED if requested else EventType.RERUN_REFUSED
        concerned = rerun.cut_short_job_ids
        if self.policy is RerunPolicy.ANY_FAILURE:
            concerned |= rerun.failed_job_ids
        for job_id in sorted(concerned):
            self.record(
                Receipt(
                    installation_id=check.installation_id,
                    job_id=job_id,
                    delivery_id=f"rerun of {check.run_id} after {check.run_attempt}",
                    received_at=rerun.first_claimed_at,
                    event_type=event_type,
                    source=Source.INTERNAL,
                    action=str(result),
                    facts=Facts(),
                )
            )
