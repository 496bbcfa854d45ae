"""The current state of runs, jobs and deployments on GitHub, as the same reports that webhooks produce."""

import math
import time
from collections.abc import Callable
from dataclasses import field

from runledger.model import payload, times
from runledger.model.dataclass import dataclass
from runledger.model.errors import GitHubRefusal, UnavailableError
from runledger.model.inputs import Status
from runledger.model.keys import NEWEST_ATTEMPT, DeploymentKey, RunKey
from runledger.model.reports import NO_INSTALLATION, DeploymentReport, InstallationReport, RunReport
from runledger.model.stuck import GitHubJob
from runledger.webhooks.readers.deployments import WAITS_AT_THE_GATE, decision_of, deployment_facts, state_times
from runledger.webhooks.readers.installations import listed_installation
from runledger.webhooks.readers.jobs import job_facts, listed_status
from runledger.webhooks.readers.runs import run_report

from runledger_github.app import GitHubApp
from runledger_github.calls import Json
from runledger_github.errors import NotFound

ACCOUNTS_FRESH_SECONDS = 60


@dataclass(slots=True, kw_only=True)
class GitHubState:
    """Methods return None if GitHub has no such record, or if the installation has no App."""

    app: GitHubApp
    clock: Callable[[], float] = time.time
    _accounts: dict[int, str] = field(default_factory=dict)
    _accounts_read_at: float = -math.inf

    def run(self, run: RunKey, repo_full_name: str) -> RunReport | None:
        """With NEWEST_ATTEMPT, the report is about the newest attempt."""
        if run.installation_id == NO_INSTALLATION:
            return None
        try:
            attempt = None if run.run_attempt == NEWEST_ATTEMPT else run.run_attempt
            found = self.app.installation(run.installation_id).run(repo_full_name, run.run_id, attempt)
        except NotFound:
            return None
        reported = payload.text(payload.optional_section(found, "repository"), "full_name")
        name = _as_github_writes(repo_full_name, reported)
        return run_report(found, installation_id=run.installation_id, repo_full_name=name, at=self._now())

    def jobs(self, run: RunKey, repo_full_name: str) -> list[GitHubJob] | None:
        installation = self.app.installation(run.installation_id)
        try:
            listed = list(installation.run_jobs(repo_full_name, run.run_id, run.run_attempt))
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
        """The account of each installation, cached for a minute. Raises UnavailableError if GitHub can't be reached.

        The account of an enterprise is empty: it has no login, so no owner tag can name it.
        """
        if self._accounts_read_at < self.clock() - ACCOUNTS_FRESH_SECONDS:
            try:
                self._accounts = {
                    int(listed["id"]): str(listed["account"].get("login") or "") for listed in self.app.installations()
                }
            except GitHubRefusal as refusal:
                raise UnavailableError(
                    f"GitHub refuses the request for the App's installations: {refusal}"
                ) from refusal
            self._accounts_read_at = self.clock()
        return self._accounts

    def share_left(self, installation_id: int) -> float:
        """The unused share of the hourly rate limit: 1 before the first call, and on a server without rate limits."""
        budget = self.app.installation(installation_id).budget
        fresh = budget is None or budget.limit <= 0 or budget.resets_at <= self.clock()
        return 1.0 if fresh or budget is None else budget.remaining / budget.limit

    def deployment(self, deployment: DeploymentKey, repo_full_name: str) -> DeploymentReport | None:
        installation_id, deployment_id = deployment
        if installation_id == NO_INSTALLATION:
            return None
        installation = self.app.installation(installation_id)
        try:
            found = installation.deployment(repo_full_name, deployment_id)
            statuses = list(installation.deployment_statuses(repo_full_name, deployment_id))
        except NotFound:
            return None
        approval, decided_at = decision_of(statuses)
        return DeploymentReport(
            installation_id=installation_id,
            deployment_id=deployment_id,
            reported_at=self._now(),
            repo_full_name=_as_github_writes(repo_full_name, _repository_of(found)),
            status=approval,
            requires_approval=any(each.get("state") in WAITS_AT_THE_GATE for each in statuses) or None,
            decided_at=decided_at,
            **deployment_facts(found),
            **state_times(statuses),
        )

    def _now(self) -> str:
        return times.from_epoch_ms(round(self.clock() * times.MS_PER_SECOND))


def _as_github_writes(given: str, reported: str | None) -> str:
    """GitHub ignores the case of a name, but the ledger's keys don't."""
    return reported if reported and reported.casefold() == given.casefold() else given


def _repository_of(deployment: Json) -> str | None:
    """A deployment has only the URL of its repository, `…/repos/owner/name`."""
    url = payload.text(deployment, "repository_url") or ""
    return "/".join(url.rsplit("/", 2)[1:]) or None


def _job_state(job: Json, repo_full_name: str) -> GitHubJob:
    status = listed_status(job)
    facts = job_facts(job, status, repo_full_name=repo_full_name, org_name=repo_full_name.partition("/")[0])
    changed_at = {Status.COMPLETED: facts.completed_at, Status.IN_PROGRESS: facts.started_at}.get(status)
    job_id = payload.identifier(job, "job.id")
    awaits_runner = payload.text(job, "status") == Status.QUEUED
    since = changed_at or facts.created_at or ""
    return GitHubJob(job_id=job_id, status=status, since=since, facts=facts, awaits_runner=awaits_runner)
