"""Rebuilds lost items from the remaining ones: jobs from runs, history and GitHub; runs and approvals from jobs.

Every write follows the write protocol and adds only missing values. So you can repeat a rebuild, and webhooks may
arrive at the same time.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from runledger.model.errors import GitHubRefusal, LostRace, UnavailableError
from runledger.model.inputs import Receipt, Status
from runledger.model.job import Job
from runledger.model.keys import DeploymentKey, JobKey, RunKey
from runledger.model.stuck import GitHubJob
from runledger.reconciliation.healing import corrected_job
from runledger.recording import approvals
from runledger.recording.decision import NoteInterrupted, gate_of, interruption_of
from runledger.recording.ledger import Ledger
from runledger.recording.replay import replay
from runledger.tables import schema
from runledger_github.state import GitHubState

Item = Mapping[str, Any]
FROM_RUN = ("run_id", "run_attempt", "repo_full_name", "workflow_name", "head_sha", "head_branch")


class Found(StrEnum):
    FROM_HISTORY = "jobs rebuilt from their history"
    FROM_GITHUB = "jobs rebuilt from GitHub alone"
    NAMED = "jobs whose missing fields were filled from GitHub"
    LOST = "jobs found neither in the history nor on GitHub"
    RUNS = "runs rebuilt"
    DEPLOYMENTS = "deployments rebuilt"
    NOT_ASKED = "runs that could not be checked on GitHub"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebuild:
    """`scan` takes a table's name in the schema and yields its items. Without an App, `github` is None."""

    ledger: Ledger
    github: GitHubState | None
    scan: Callable[[str], Iterable[Item]]
    now: Callable[[], str]
    counts: dict[Found, int] = field(default_factory=lambda: dict.fromkeys(Found, 0))

    def everything(self) -> Mapping[Found, int]:
        in_runs = {key for run in self._runs() for key in self._jobs_of(run)}
        for key in sorted(self._recorded() - in_runs):
            self._job_without_run(key)
        for item in self.scan(schema.WORKFLOW_JOBS.name):
            if item[schema.SORT] == schema.ONLY and "job_id" in item:
                self._what_follows_from(JobKey(item["installation_id"], item["job_id"]))
        return self.counts

    def _runs(self) -> Iterator[Item]:
        """Items without a status are cached lookups."""
        return (
            item
            for item in self.scan(schema.WORKFLOW_RUNS.name)
            if item[schema.SORT] == schema.ONLY and "status" in item and item.get("repo_full_name")
        )

    def _recorded(self) -> set[JobKey]:
        keys = (item[schema.PARTITION].partition("#") for item in self.scan(schema.WORKFLOW_JOB_EVENTS.name))
        return {JobKey(int(installation), int(job)) for installation, _, job in keys}

    def _jobs_of(self, run: Item) -> list[JobKey]:
        """Rebuilds the missing jobs of a run, with one call to GitHub for all of them."""
        key = RunKey(run["installation_id"], run["run_id"], run.get("run_attempt", 1))
        ids = {*run.get("open_job_ids", ()), *run.get("done_job_ids", ())}
        jobs = [JobKey(key.installation_id, job_id) for job_id in sorted(ids)]
        missing = set(jobs) - self.ledger.jobs.among(jobs).keys()
        if missing:
            self._register(run)
        listed = self._listed(key, run["repo_full_name"]) if missing else {}
        for job in sorted(missing):
            self._job(job, run, listed.get(job.job_id))
        return jobs

    def _register(self, run: Item) -> None:
        """The registry of installations and repositories is in the jobs table."""
        self.ledger.installations.register(
            installation_id=run["installation_id"],
            org_name=run["repo_full_name"].partition("/")[0],
            repo_full_name=run["repo_full_name"],
            first_seen_at=run.get("created_at") or self.now(),
        )

    def _listed(self, run: RunKey, repo_full_name: str) -> dict[int, GitHubJob]:
        if self.github is None:
            return {}
        try:
            return {job.job_id: job for job in self.github.jobs(run, repo_full_name) or ()}
        except (GitHubRefusal, UnavailableError):
            self.counts[Found.NOT_ASKED] += 1
            return {}

    def _job(self, key: JobKey, run: Item, found: GitHubJob | None) -> None:
        history = self.ledger.events.history(*key)
        identity = {name: run[name] for name in FROM_RUN if name in run}
        job = replay(history, identity | {"org_name": run["repo_full_name"].partition("/")[0]})
        if job is not None:
            self._save(job)
        if found is not None:
            self.ledger.record(self._correction(key, job, found))
            self.counts[Found.NAMED if job else Found.FROM_GITHUB] += 1
        elif job is None:
            self.counts[Found.LOST] += 1

    def _correction(self, key: JobKey, job: Job | None, found: GitHubJob) -> Receipt:
        """The receipt has no status, so it only adds missing facts: the history is more exact than GitHub."""
        receipt = corrected_job(key.installation_id, found, version=job.version if job else 0, now=self.now())
        is_further = job is None or found.status.rank > job.status.rank
        return receipt if is_further else replace(receipt, status=None)

    def _job_without_run(self, key: JobKey) -> None:
        if not self.ledger.jobs.among([key]) and (job := replay(self.ledger.events.history(*key))):
            self._save(job)

    def _save(self, job: Job) -> None:
        try:
            self.ledger.jobs.save(None, job)
        except LostRace:
            return  # a webhook has created it in the meantime
        self.counts[Found.FROM_HISTORY] += 1

    def _what_follows_from(self, key: JobKey) -> None:
        job = self.ledger.jobs.get(*key, consistent=True)
        if job is None or job.run_key is None:
            return
        if self.ledger.runs.get(job.run_key) is None:
            self.counts[Found.RUNS] += 1
            self._report_run(job.run_key, job.repo_full_name)
        self.ledger.runs.count(job, first=True)
        if isinstance(interruption_of(job), NoteInterrupted):
            self.ledger.runs.note_interrupted(job)
        if job.deployment_id is not None:
            self._deployment(job, DeploymentKey(job.installation_id, job.deployment_id))

    def _report_run(self, run: RunKey, repo_full_name: str | None) -> None:
        if self.github is None or repo_full_name is None:
            return
        try:
            if report := self.github.run(run, repo_full_name):
                self.ledger.runs.absorb(report)
        except (GitHubRefusal, UnavailableError):
            self.counts[Found.NOT_ASKED] += 1

    def _deployment(self, job: Job, key: DeploymentKey) -> None:
        if self.ledger.deployments.get(key) is not None:
            return
        self.counts[Found.DEPLOYMENTS] += 1
        if waiting := gate_of(job):
            approvals.join(waiting, self.ledger.gates, self.ledger.deployments, self.ledger.record)
        if self.github is None or job.repo_full_name is None:
            return
        try:
            if report := self.github.deployment(key, job.repo_full_name):
                self.ledger.deployments.absorb(report)
        except (GitHubRefusal, UnavailableError):
            self.counts[Found.NOT_ASKED] += 1


def describe(job: Job) -> dict[str, Any]:
    """A replayed job for people: without internal and absent values."""
    hidden = {"webhooks", "inputs", "version", "queued_reported_at", "waiting_reported_at"}
    shown = {name: value for name, value in vars(job).items() if value is not None and name not in hidden}
    return shown | {"status": Status(job.status).value}
