"""Passes of the reconciler: their kinds, statuses and outcomes, and the ids of their results."""

import secrets
from enum import StrEnum

# The time-out of the reconciler's function, and how long Lambda keeps a request that it can't start.
LONGEST_PASS_SECONDS = 600
LONGEST_WAIT_SECONDS = 300


def new_id(at: str) -> str:
    """Sortable by time and safe in a URL."""
    return f"{at.translate(str.maketrans('', '', '-:.'))}-{secrets.token_hex(3)}"


class PassKind(StrEnum):
    QUICK = "quick"
    FULL = "full"
    CLEANUP = "cleanup"


class PassStatus(StrEnum):
    REQUESTED = "requested"
    RUNNING = "running"
    FINISHED = "finished"


class PassOutcome(StrEnum):
    SUCCESS = "success"
    ERRORS = "errors"
    UNFINISHED = "unfinished"  # time ran out; the next pass continues
