"""The current state of runs, jobs and deployments at GitHub, converted to the reports that webhooks produce."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from runledger.model import payload, times
from runledger.model.errors import UnavailableError
from runledger.model.inputs import Status
from runledger.model.reports import NO_INSTALLATION, DeploymentReport, InstallationReport, RunReport
from runledger.model.stuck import GitHubJob
from runledger.webhooks.readers.deployments import approval_of
from runledger.webhooks.readers.installations import listed_installation
from runledger.webhooks.readers.jobs import job_facts, listed_status
from runledger.webhooks.readers.runs import run_report

from runledger_github.app import GitHubApp
from runledger_github.errors import GitHubRefusal, NotFound
from runledger_github.messages import Json

ACCOUNTS_FRESH_SECONDS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """Methods return None if GitHub has no such record, or if the installation has no App."""

    app: GitHubApp
    clock: Callable[[], float] = time.time
    _accounts: list[tuple[float, dict[int, str]]] = field(default_factory=list)

    def run(self, installation_id: int, repo_full_name: str, run_id: int, run_attempt: int) -> RunReport | None:
        if installation_id == NO_INSTALLATION:
            return None
        try:
            found = self.app.installation(installation_id).run(repo_full_name, run_id, run_attempt)
        except NotFound:
            return None
        return run_report(found, installation_id=installation_id, repo_full_name=repo_full_name, at=self._now())

    def jobs(self, installation_id: int, repo_full_name: str, run_id: int, run_attempt: int) -> list[GitHubJob] | None:
        try:
            listed = list(self.app.installation(installation_id).run_jobs(repo_full_name, run_id, run_attempt))
        except NotFound:
            return None
        return [_job_state(job, repo_full_name) for job in listed]

    def job(self, installation_id: int, repo_full_name: str, job_id: int) -> GitHubJob | None:
        try:
            return _job_state(self.app.installation(installation_id).job(repo_full_name, job_id), repo_full_name)
        except NotFound:
            return None

    def installation(self, installation_id: int) -> InstallationReport | None:
        found = self.app.find_installation(installation_id)
        return listed_installation(found, at=self._now()) if found else None

    def accounts(self) -> dict[int, str]:
        """The account of each installation, cached for a minute. UnavailableError if GitHub can't be reached."""
        if not self._accounts or self._accounts[0][0] < self.clock() - ACCOUNTS_FRESH_SECONDS:
            try:
                logins = {int(listed["id"]): str(listed["account"]["login"]) for listed in self.app.installations()}
            except GitHubRefusal as refusal:
                raise UnavailableError(
                    f"GitHub rejects the request for the App's installations: {refusal}"
                ) from refusal
            self._accounts[:] = [(self.clock(), logins)]
        return self._accounts[0][1]

    def share_left(self, installation_id: int) -> float:
        """The unused share of the hourly rate limit: 1 before the first call, and on a server without rate limits."""
        budget = self.app.installation(installation_id).budget
        fresh = budget is None or budget.limit <= 0 or budget.resets_at <= self.clock()
        return 1.0 if fresh or budget is None else budget.remaining / budget.limit

    def deployment(self, installation_id: int, repo_full_name: str, deployment_id: int) -> DeploymentReport | None:
        if installation_id == NO_INSTALLATION:
            return None
        installation = self.app.installation(installation_id)
        try:
            found = installation.deployment(repo_full_name, deployment_id)
            states = {
                str(status["state"]) for status in installation.deployment_statuses(repo_full_name, deployment_id)
            }
        except NotFound:
            return None
        return DeploymentReport(
            installation_id=installation_id,
            deployment_id=deployment_id,
            reported_at=self._now(),
            repo_full_name=repo_full_name,
            environment=payload.text(found, "environment"),
            created_at=payload.instant(found, "created_at"),
            status=approval_of(states),
            requires_approval="waiting" in states or None,
        )

    def _now(self) -> str:
        return times.from_epoch_ms(round(self.clock() * times.MS_PER_SECOND))


def _job_state(job: Json, repo_full_name: str) -> GitHubJob:
    status = listed_status(job)
    facts = job_facts(job, status, repo_full_name=repo_full_name, org_name=repo_full_name.partition("/")[0])
    changed_at = {Status.COMPLETED: facts.completed_at, Status.IN_PROGRESS: facts.started_at}.get(status)
    job_id = payload.identifier(job, "job.id")
    awaits_runner = payload.text(job, "status") == Status.QUEUED
    since = changed_at or facts.created_at or ""
    return GitHubJob(job_id=job_id, status=status, since=since, facts=facts, awaits_runner=awaits_runner)
