"""What the reconciler says to the ledger, in the ledger's own words."""

from runledger.model.inputs import EventType, Facts, Receipt, Source, Status
from runledger.model.job import Job
from runledger.model.reports import RunReport, RunStatus
from runledger.model.stuck import GitHubJob
from runledger.reconciliation.open_runs import OpenRun

UNKNOWN = "unknown to GitHub"
UNINSTALLED = "the App was uninstalled"
NO_REPOSITORY = "its repository is unknown"
CANCELLED = "cancelled"


def said(told: GitHubJob) -> str:
    return f"{told.status} ({told.facts.conclusion})" if told.facts.conclusion else str(told.status)


def healed(installation_id: int, told: GitHubJob, *, version: int, now: str) -> Receipt:
    """The id follows from GitHub's answer and the job's version: of two passes at the same time, one changes the job,
    and a job that needs the same correction again gets it.
    """
    return Receipt(
        installation_id=installation_id,
        job_id=told.job_id,
        delivery_id=f"reconciled {told.job_id} {said(told)} {told.since} from version {version}",
        received_at=now,
        event_type=EventType.JOB_RECONCILED,
        source=Source.INTERNAL,
        status=told.status,
        action=f"{said(told)} on GitHub",
        facts=told.facts,
    )


def closed(job: Job, *, now: str, reason: str = UNKNOWN) -> Receipt:
    """A guess: the job may have ended since it was read, and a later report of its end corrects this one."""
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
        facts=Facts(conclusion=CANCELLED, completed_at=now),
    )


def unknown_run(run: OpenRun, *, now: str) -> RunReport:
    return RunReport(
        installation_id=run.installation_id,
        run_id=run.run_id,
        run_attempt=run.run_attempt,
        reported_at=now,
        status=RunStatus.COMPLETED,
        conclusion=CANCELLED,
        repo_full_name=run.repo_full_name,
    )
