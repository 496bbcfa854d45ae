"""Passes of the reconciler: their kinds, statuses and outcomes. Pure."""

from enum import StrEnum


class PassKind(StrEnum):
    QUICK = "quick"
    FULL = "full"
    CLEANUP = "cleanup"


# Between scheduled passes. A cleanup runs on request only.
INTERVAL_SECONDS = {PassKind.QUICK: 300, PassKind.FULL: 1800}
# The time-out of the reconciler's function, and how long Lambda keeps a request that it can't start: the next pass
# does what a late one would.
LONGEST_PASS_SECONDS = 600
LONGEST_WAIT_SECONDS = INTERVAL_SECONDS[PassKind.QUICK]


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
