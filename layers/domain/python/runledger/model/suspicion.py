"""Why a runner is suspected of being an orphan, its registrations on GitHub, and why it is cleared. Pure."""

from enum import StrEnum


class Reason(StrEnum):
    """Why a runner is suspected.

    For the first three reasons the machine is running, and is terminated. For the others, only the ledger is corrected.
    """

    JOB_COMPLETED = "job_completed"
    NO_JOB = "no_job"
    NEVER_REGISTERED = "never_registered"  # only if GitHub confirms it
    INSTANCE_GONE = "instance_gone"
    INSTANCE_STOPPED = "instance_stopped"

    @property
    def machine_is_running(self) -> bool:
        return self in (Reason.JOB_COMPLETED, Reason.NO_JOB, Reason.NEVER_REGISTERED)


class RegistrationState(StrEnum):
    """A machine's registration, in all scopes that were searched. An offline one counts as none: a just-in-time
    registration exists before its machine has connected, and gets no job until then.
    """

    NONE = "none"
    IDLE = "idle"
    BUSY = "busy"


class Cleared(StrEnum):
    """Why a runner is no longer suspected."""

    BUSY = "busy"  # on GitHub, with a job that the ledger doesn't have
    REGISTERED = "registered"  # with GitHub, after it was suspected of never registering
    IN_USE = "in_use"  # the ledger, EC2 and ECS no longer show an orphan
