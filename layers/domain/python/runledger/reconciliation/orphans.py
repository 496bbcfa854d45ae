"""Decides whether a runner is an orphan, from the records of the ledger, EC2 and ECS. Pure."""

from enum import StrEnum

from runledger.model import times
from runledger.model.inputs import Status
from runledger.model.instance import Instance
from runledger.model.job import Job
from runledger.model.runner import Runner

ALIVE = {"pending", "running", "provisioning", "activating"}
STOPPED = {"stopping", "stopped", "deactivating", "deprovisioning"}


class Reason(StrEnum):
    """The first two machines cost money and are stopped. For the others, only the ledger is corrected."""

    JOB_COMPLETED = "job_completed"
    NO_JOB = "no_job"
    INSTANCE_GONE = "instance_gone"
    INSTANCE_STOPPED = "instance_stopped"

    @property
    def is_alive(self) -> bool:
        return self in (Reason.JOB_COMPLETED, Reason.NO_JOB)


def lives(instance: Instance | None) -> bool:
    return instance is not None and instance.state in ALIVE


def suspicion(
    runner: Runner | None, job: Job | None, instance: Instance | None, *, ours: bool, now: str, grace_seconds: int
) -> Reason | None:
    """A young runner is never suspected, because EC2, ECS and GitHub may list it minutes late. Nor is another
    application's machine.

    A machine that EC2 and ECS don't have is gone only if they have confirmed it before. Otherwise it is out of scope.
    """
    latest = times.earlier(now, seconds=grace_seconds)
    if runner is not None and (runner.contested_at or runner.created_at > latest):
        return None
    if not lives(instance):
        return _leftover(runner, instance)
    assert instance is not None
    if not ours or instance.launched_at is None or instance.launched_at > latest:
        return None
    if job is None:
        return Reason.NO_JOB
    ended = job.status is Status.COMPLETED and max(job.completed_at or "", job.last_updated_at) <= latest
    return Reason.JOB_COMPLETED if ended else None


def _leftover(runner: Runner | None, instance: Instance | None) -> Reason | None:
    if runner is None:
        return None
    if instance is None:
        return Reason.INSTANCE_GONE if runner.confirmed_at else None
    return Reason.INSTANCE_STOPPED if instance.state in STOPPED else Reason.INSTANCE_GONE
