"""Passes of the reconciler: their kinds, and the ids under which their results are read."""

import secrets
from enum import StrEnum


def new_id(at: str) -> str:
    """Sorts by time and fits into an address."""
    return f"{at.translate(str.maketrans('', '', '-:.'))}-{secrets.token_hex(3)}"


class PassKind(StrEnum):
    QUICK = "quick"
    FULL = "full"
    CLEANUP = "cleanup"
