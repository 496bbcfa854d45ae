"""Suspicions of runners: the registrations that were found on GitHub, and why a suspicion was cleared. Pure."""

from enum import StrEnum


class Registration(StrEnum):
    """Of a machine, in all scopes that were searched. An offline registration counts as none: a just-in-time
    registration exists before its machine has connected, and gets no job until then.
    """

    NONE = "none"
    IDLE = "idle"
    BUSY = "busy"


class Cleared(StrEnum):
    """Why a runner is no longer suspected."""

    BUSY = "busy"  # on GitHub, with a job that the ledger doesn't have
    REGISTERED = "registered"  # with GitHub, after it was suspected of never doing so
    IN_USE = "in_use"  # the ledger, EC2 and ECS no longer show an orphan
