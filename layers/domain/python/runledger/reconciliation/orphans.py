"""Decides whether a runner is an orphan, from the records of the ledger, EC2 and ECS. Pure."""

from runledger.model import times
from runledger.model.dataclass import dataclass
from runledger.model.inputs import Status
from runledger.model.instance import Condition, Instance
from runledger.model.job import Job
from runledger.model.passes import INTERVAL_SECONDS, PassKind
from runledger.model.runner import Runner
from runledger.model.suspicion import Reason

# A cleared runner isn't suspected again for this time, in which a full pass adds the job that it works on.
RECHECK_SECONDS = INTERVAL_SECONDS[PassKind.FULL]


@dataclass(frozen=True, slots=True, kw_only=True)
class Waits:
    """Waiting times: until a new machine can be an orphan, until it must have registered, and until a cleared one can
    be suspected again.
    """

    grace_seconds: int
    registration_seconds: int
    recheck_seconds: int = RECHECK_SECONDS


def lives(instance: Instance | None) -> bool:
    return instance is not None and instance.condition is Condition.ALIVE


def orphan_reason(
    runner: Runner | None, job: Job | None, instance: Instance | None, *, may_terminate: bool, now: str, waits: Waits
) -> Reason | None:
    """A young runner is never suspected, because EC2, ECS and GitHub may list it minutes late. Another application's
    machine isn't either.

    A machine that EC2 and ECS don't have is gone only if they have confirmed it before. Otherwise it is out of scope.
    """
    latest = times.earlier(now, seconds=waits.grace_seconds)
    if runner is not None and (runner.contested_at or runner.created_at > latest):
        return None
    if not lives(instance):
        return _leftover(runner, instance)
    launched_at = instance.launched_at if instance else None
    if not may_terminate or launched_at is None or launched_at > latest:
        return None
    if runner is not None and is_cleared(runner, now=now, waits=waits):
        return None
    if runner is None or job is None:
        return Reason.NO_JOB
    ended = job.status is Status.COMPLETED and max(job.completed_at or "", job.last_updated_at) <= latest
    return Reason.JOB_COMPLETED if ended else _unregistered(runner, job, since=launched_at, now=now, waits=waits)


def is_cleared(runner: Runner, *, now: str, waits: Waits) -> bool:
    """Whether it was cleared recently. Otherwise a busy runner would be suspected and cleared in turns."""
    return (runner.suspicion_cleared_at or "") > times.earlier(now, seconds=waits.recheck_seconds)


def _unregistered(runner: Runner, job: Job, *, since: str, now: str, waits: Waits) -> Reason | None:
    """`since` is the machine's launch. It may have been assigned to the job later."""
    if job.status not in (Status.QUEUED, Status.SCHEDULED):
        return None
    assigned = (each.since for each in runner.effective_assignments if each.job_id == job.job_id)
    due = times.earlier(now, seconds=waits.registration_seconds)
    return Reason.NEVER_REGISTERED if max(since, runner.created_at, *assigned) <= due else None


def _leftover(runner: Runner | None, instance: Instance | None) -> Reason | None:
    if runner is None:
        return None
    if instance is None:
        return Reason.INSTANCE_GONE if runner.confirmed_at else None
    return Reason.INSTANCE_GONE if instance.is_gone else Reason.INSTANCE_STOPPED
