"""When a job is stuck, and what follows from what GitHub and AWS say of it. Pure."""

from dataclasses import dataclass
from enum import StrEnum

from runledger.model import times
from runledger.model.inputs import Facts, Status
from runledger.model.job import Job

# GitHub's answer may be ahead of a webhook that is under way: what happened just now is left to it.
WEBHOOKS_UNDER_WAY_SECONDS = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long a job may be in a status, and how often a runner is asked for."""

    queued_minutes: int = 10
    scheduled_minutes: int = 10
    in_progress_hours: int = 6
    waiting_hours: int = 24
    runner_requests_at_most: int = 5

    def least_seconds(self, status: Status) -> int:
        """No job is stuck in a status before: one that has lost its runner is, much earlier than one that works."""
        return self.seconds(Status.SCHEDULED if status is Status.IN_PROGRESS else status)

    def seconds(self, status: Status) -> int:
        return {
            Status.QUEUED: self.queued_minutes * times.SECONDS_PER_MINUTE,
            Status.SCHEDULED: self.scheduled_minutes * times.SECONDS_PER_MINUTE,
            Status.IN_PROGRESS: self.in_progress_hours * times.SECONDS_PER_HOUR,
            Status.WAITING: self.waiting_hours * times.SECONDS_PER_HOUR,
        }[status]


OPEN = (Status.QUEUED, Status.SCHEDULED, Status.IN_PROGRESS, Status.WAITING)


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What GitHub reports about a job now; `since` is when that became true.

    A job that is held back, as by its concurrency group, is queued as well, but awaits no runner yet.
    """

    job_id: int
    status: Status
    since: str
    facts: Facts
    awaits_runner: bool = True


class Verdict(StrEnum):
    LEAVE = "leave"
    HEAL = "heal"  # GitHub is further than we are
    CLOSE = "close"  # GitHub knows no such job
    REQUEST_RUNNER = "request a runner"
    LONG_RUNNING = "long-running"


def stuck_since(job: Job, *, now: str, patience: Patience) -> str | None:
    """Since when a job has been where it is, if that is too long."""
    if job.status is Status.IN_PROGRESS and job.terminated_at:
        lost = times.earlier(now, seconds=patience.least_seconds(job.status))
        return job.terminated_at if job.terminated_at <= lost else None
    since = {
        # A job that a runner was asked for is stuck until it has one; an approval may have come days after it was made.
        Status.QUEUED: job.created_at if job.runner_requests else job.last_updated_at,
        Status.SCHEDULED: job.scheduled_at or job.last_updated_at,
        Status.IN_PROGRESS: job.started_at or job.last_updated_at,
        Status.WAITING: job.created_at,
    }.get(job.status)
    if since is None or since > times.earlier(now, seconds=patience.seconds(job.status)):
        return None
    return since


def judge(job: Job, told: Told | None, *, runner_lives: bool | None, now: str, patience: Patience) -> Verdict:
    """`told` is None for a job that GitHub does not know; `runner_lives` is None where that cannot be said."""
    is_stuck = stuck_since(job, now=now, patience=patience) is not None
    if job.status is Status.COMPLETED:
        return Verdict.LEAVE
    if told is None:
        return Verdict.CLOSE if is_stuck else Verdict.LEAVE
    if _is_news(told, job, now):
        return Verdict.HEAL
    if not is_stuck:
        return Verdict.LEAVE
    without = job.instance_id is None or runner_lives is False
    if (
        told.status is Status.QUEUED
        and told.awaits_runner
        and without
        and request_is_due(job, now=now, patience=patience)
    ):
        return Verdict.REQUEST_RUNNER
    return Verdict.LONG_RUNNING if job.status is Status.IN_PROGRESS and runner_lives is not False else Verdict.LEAVE


def request_is_due(job: Job, *, now: str, patience: Patience) -> bool:
    """Each pause is twice as long as the one before, and there is an end to it."""
    requests = job.runner_requests or 0
    if job.status not in (Status.QUEUED, Status.SCHEDULED) or requests >= patience.runner_requests_at_most:
        return False
    pause = patience.seconds(Status.QUEUED) * 2 ** max(0, requests - 1)
    return job.runner_requested_at is None or job.runner_requested_at <= times.earlier(now, seconds=pause)


def is_settled(told: Told, *, now: str) -> bool:
    return told.since <= times.earlier(now, seconds=WEBHOOKS_UNDER_WAY_SECONDS)


def _is_news(told: Told, job: Job, now: str) -> bool:
    return is_settled(told, now=now) and told.status is not job.status and told.status.rank >= job.status.rank
