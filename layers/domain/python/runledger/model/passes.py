"""Passes of the reconciler: their kinds, statuses and outcomes. Pure."""

from enum import StrEnum

# The time-out of the reconciler's function, and how long Lambda keeps a request that it can't start.
LONGEST_PASS_SECONDS = 600
LONGEST_WAIT_SECONDS = 300


class PassKind(StrEnum):
    QUICK = "quick"
    FULL = "full"
    CLEANUP = "cleanup"


class OrphanMode(StrEnum):
    """What a pass does with orphaned runners: the setting `orphans`."""

    REPORT = "report"
    ENFORCE = "enforce"  # stops them


class PassStatus(StrEnum):
    REQUESTED = "requested"
    RUNNING = "running"
    FINISHED = "finished"
    FAILED = "failed"  # never stored: its function must have ended, and stored no result


class PassOutcome(StrEnum):
    SUCCESS = "success"
    ERRORS = "errors"
    UNFINISHED = "unfinished"  # time ran out; the next pass continues
