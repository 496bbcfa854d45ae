"""Passes of the reconciler: their kinds, statuses and outcomes. Pure."""

from enum import StrEnum


class PassKind(StrEnum):
    QUICK = "quick"
    FULL = "full"
    CLEANUP = "cleanup"


# Between scheduled passes. A cleanup runs on request only.
INTERVAL_SECONDS = {PassKind.QUICK: 300, PassKind.FULL: 1800}
# The timeout of the reconciler function.
LONGEST_PASS_SECONDS = 600
# Lambda drops a request that hasn't started by then: the next scheduled pass does the same work.
LONGEST_WAIT_SECONDS = INTERVAL_SECONDS[PassKind.QUICK]
# Why a pass makes no more calls to GitHub.
RESERVED = "the rest of the time or of the rate limit is kept for other work"


class OrphanMode(StrEnum):
    """What a pass does with orphaned runners: the setting `orphans`."""

    REPORT = "report"
    ENFORCE = "enforce"  # terminates their machines


class PassStatus(StrEnum):
    REQUESTED = "requested"
    RUNNING = "running"
    FINISHED = "finished"
    FAILED = "failed"  # computed on read: the function's timeout has passed, and no result was stored


class PassOutcome(StrEnum):
    SUCCESS = "success"
    ERRORS = "errors"
    UNFINISHED = "unfinished"  # time ran out; the next pass continues
