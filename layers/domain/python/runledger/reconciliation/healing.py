"""Corrections, as inputs of the ledger."""

from runledger.model.inputs import Conclusion, EventType, Facts, Receipt, Source, Status
from runledger.model.job import Job
from runledger.model.reports import RunReport, RunStatus
from runledger.model.stuck import GitHubJob
from runledger.reconciliation.open_runs import OpenRun

UNKNOWN = "unknown to GitHub"
UNINSTALLED = "the App was uninstalled"
NO_REPOSITORY = "its repository is unknown"


def describe(found: GitHubJob) -> str:
    return f"{found.status} ({found.facts.conclusion})" if found.facts.conclusion else str(found.status)


def corrected_job(installation_id: int, found: GitHubJob, *, version: int, now: str) -> Receipt:
    """Its id is derived from GitHub's response and the job's version. So only one of two overlapping passes changes the
    job, and a later pass can make the same correction again.
    """
    return Receipt(
        installation_id=installation_id,
        job_id=found.job_id,
        delivery_id=f"reconciled {found.job_id} {describe(found)} {found.since} from version {version}",
        received_at=now,
        event_type=EventType.JOB_RECONCILED,
        source=Source.INTERNAL,
        status=found.status,
        action=f"{describe(found)} on GitHub",
        facts=found.facts,
    )


def closed_job(job: Job, *, now: str, reason: str = UNKNOWN) -> Receipt:
    """A guess, which a later report of the job's completion replaces."""
    return Receipt(
        installation_id=job.installation_id,
        job_id=job.job_id,
        delivery_id=f"closed {job.job_id}",
        received_at=now,
        event_type=EventType.JOB_RECONCILED,
        source=Source.INTERNAL,
        status=Status.COMPLETED,
        action=reason,
        is_guess=True,
        facts=Facts(conclusion=Conclusion.CANCELLED, completed_at=now),
    )


def closed_run(run: OpenRun, *, now: str) -> RunReport:
    return RunReport(
        installation_id=run.installation_id,
        run_id=run.run_id,
        run_attempt=run.run_attempt,
        reported_at=now,
        status=RunStatus.COMPLETED,
        conclusion=run.conclusion or Conclusion.CANCELLED,
        repo_full_name=run.repo_full_name,
    )
