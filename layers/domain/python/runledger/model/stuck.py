"""When a job is stuck, what the reconciler does about it, and advice for users. Pure."""

from enum import StrEnum

from runledger.model import times
from runledger.model.dataclass import dataclass
from runledger.model.inputs import Facts, Status
from runledger.model.job import Job

# GitHub's API may be ahead of a webhook that is still on its way: leave recent changes to the webhook.
WEBHOOKS_UNDER_WAY_SECONDS = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class StuckThresholds:
    """The settings of the same names: how long a job may be in a status, and how often a runner is requested for it."""

    stuck_queued_minutes: int
    stuck_scheduled_minutes: int
    long_running_hours: int
    forgotten_approval_hours: int
    runner_requests_at_most: int

    def least_seconds(self, status: Status) -> int:
        """The shortest time after which a job may be stuck.

        A running job whose runner has ended is stuck much earlier.
        """
        return self.seconds(Status.SCHEDULED if status is Status.IN_PROGRESS else status)

    def seconds(self, status: Status) -> int:
        return {
            Status.QUEUED: self.stuck_queued_minutes * times.SECONDS_PER_MINUTE,
            Status.SCHEDULED: self.stuck_scheduled_minutes * times.SECONDS_PER_MINUTE,
            Status.IN_PROGRESS: self.long_running_hours * times.SECONDS_PER_HOUR,
            Status.WAITING: self.forgotten_approval_hours * times.SECONDS_PER_HOUR,
        }[status]


OPEN = (Status.QUEUED, Status.SCHEDULED, Status.IN_PROGRESS, Status.WAITING)
ADVICE = {
    Status.QUEUED: "No runner has started this job. Check that a runner with its labels was launched and is online.",
    Status.SCHEDULED: "A runner was launched but hasn't started. Check that its machine runs and can reach GitHub.",
    Status.IN_PROGRESS: "This job has been running unusually long. Check its log, and that its machine is running.",
    Status.WAITING: "Its deployment hasn't been approved. Ask a reviewer of the environment.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class GitHubJob:
    """The state of a job in GitHub's API, and since when it has it.

    A job that its concurrency group holds back is also queued, but awaits no runner yet.
    """

    job_id: int
    status: Status
    since: str
    facts: Facts
    awaits_runner: bool = True


class Verdict(StrEnum):
    LEAVE = "leave"
    HEAL = "heal"  # GitHub has a later status
    CLOSE = "close"  # GitHub has no such job
    REQUEST_RUNNER = "request a runner"
    LONG_RUNNING = "long-running"


def stuck_since(job: Job, *, now: str, thresholds: StuckThresholds) -> str | None:
    """Since when the job has had its status, if that is too long; else None."""
    if job.status is Status.IN_PROGRESS and job.terminated_at:
        lost = times.earlier(now, seconds=thresholds.least_seconds(job.status))
        return job.terminated_at if job.terminated_at <= lost else None
    since = {
        # Not since its creation: an approval can queue a job days after that.
        Status.QUEUED: job.queued_reported_at or job.created_at,
        Status.SCHEDULED: job.scheduled_at or job.last_updated_at,
        Status.IN_PROGRESS: job.started_at or job.last_updated_at,
        Status.WAITING: job.approval_requested_at or job.created_at,
    }.get(job.status)
    if since is None or since > times.earlier(now, seconds=thresholds.seconds(job.status)):
        return None
    return since


def judge(
    job: Job, reported: GitHubJob | None, *, runner_lives: bool | None, now: str, thresholds: StuckThresholds
) -> Verdict:
    """`reported` is None if GitHub has no such job; `runner_lives` is None if that is unknown."""
    is_stuck = stuck_since(job, now=now, thresholds=thresholds) is not None
    if job.status is Status.COMPLETED:
        return Verdict.LEAVE
    if reported is None:
        return Verdict.CLOSE if is_stuck else Verdict.LEAVE
    if _is_news(reported, job, now):
        return Verdict.HEAL
    if not is_stuck:
        return Verdict.LEAVE
    without = job.instance_id is None or runner_lives is False
    if (
        reported.status is Status.QUEUED
        and reported.awaits_runner
        and without
        and request_is_due(job, now=now, thresholds=thresholds)
    ):
        return Verdict.REQUEST_RUNNER
    return Verdict.LONG_RUNNING if job.status is Status.IN_PROGRESS and runner_lives is not False else Verdict.LEAVE


def request_is_due(job: Job, *, now: str, thresholds: StuckThresholds) -> bool:
    """Each pause is twice as long as the one before, and the number of requests is limited."""
    requests = job.runner_requests or 0
    if job.status not in (Status.QUEUED, Status.SCHEDULED) or requests >= thresholds.runner_requests_at_most:
        return False
    pause = thresholds.seconds(Status.QUEUED) * 2 ** max(0, requests - 1)
    return job.runner_requested_at is None or job.runner_requested_at <= times.earlier(now, seconds=pause)


def is_settled(reported: GitHubJob, *, now: str) -> bool:
    return reported.since <= times.earlier(now, seconds=WEBHOOKS_UNDER_WAY_SECONDS)


def _is_news(reported: GitHubJob, job: Job, now: str) -> bool:
    return (
        is_settled(reported, now=now) and reported.status is not job.status and reported.status.rank >= job.status.rank
    )
