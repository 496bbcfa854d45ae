"""Derives the state of a run from its jobs, and re-runs failed jobs."""

from collections.abc import Sequence
from dataclasses import replace

from local.github.messages import Refusal
from local.github.records import Job, Run
from local.github.state import State, timestamp

FAILED = {"failure", "timed_out"}
RERUN_CONCLUSIONS = FAILED | {"cancelled"}


def jobs_of(state: State, run: Run, attempt: int | None = None) -> list[Job]:
    """The run's jobs, of one attempt or of all."""
    return [job for job in state.jobs.values() if job.run_id == run.id and attempt in (None, job.run_attempt)]


def outcome(run: Run, attempt: int, jobs: Sequence[Job]) -> tuple[str, str | None]:
    """Status and conclusion of one attempt, from its jobs unless the run has its own."""
    if attempt == run.run_attempt and run.status:
        return run.status, run.conclusion
    conclusions = {job.conclusion for job in jobs}
    if attempt < run.run_attempt or (jobs and all(job.status == "completed" for job in jobs)):
        if conclusions & FAILED or not jobs:
            return "completed", "failure"
        return "completed", "cancelled" if "cancelled" in conclusions else "success"
    statuses = {job.status for job in jobs}
    if statuses & {"in_progress", "completed"}:
        return "in_progress", None
    return ("waiting" if "waiting" in statuses else "queued"), None


def rerun_failed_jobs(state: State, run: Run) -> None:
    """Every job of the new attempt gets a new id, including carried-over jobs, as on GitHub."""
    jobs = jobs_of(state, run, run.run_attempt)
    status, _ = outcome(run, run.run_attempt, jobs)
    if status != "completed":
        raise Refusal(403, "This workflow is already running")
    if not any(job.conclusion in RERUN_CONCLUSIONS for job in jobs):
        raise Refusal(403, "This workflow run cannot be retried")
    now, attempt = timestamp(state.now()), run.run_attempt + 1
    state.runs[run.id] = replace(run, run_attempt=attempt, status=None, conclusion=None, updated_at=now)
    for job in jobs:
        rerun_job = replace(job, id=state.new_id(), run_attempt=attempt)
        if job.conclusion in RERUN_CONCLUSIONS:
            rerun_job = Job(
                id=rerun_job.id, run_id=run.id, run_attempt=attempt, name=job.name, labels=job.labels, created_at=now
            )
        state.jobs[rerun_job.id] = rerun_job
