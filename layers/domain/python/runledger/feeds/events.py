"""Events of the feed, and their types. Pure."""

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Any

ID_LENGTH = 32
LONGEST_TYPE = 100
OWN_TYPE = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+")
API_VERSION = "v1"
ALL_TYPES = ("*",)


class FeedType(StrEnum):
    """Teams have types of their own besides these."""

    JOB_QUEUED = "job.queued"
    JOB_STARTED = "job.started"
    JOB_COMPLETED = "job.completed"
    JOB_FAILED = "job.failed"
    JOB_INTERRUPTED = "job.interrupted"
    JOB_STUCK = "job.stuck"
    JOB_RECONCILED = "job.reconciled"
    RUN_COMPLETED = "run.completed"
    RUN_FAILED = "run.failed"
    APPROVAL_REQUESTED = "approval.requested"
    APPROVAL_GIVEN = "approval.given"
    APPROVAL_REFUSED = "approval.refused"
    APPROVAL_FORGOTTEN = "approval.forgotten"
    RUNNER_REQUESTED = "runner.requested"
    RUNNER_ORPHANED = "runner.orphaned"
    RUNNER_CLEANED = "runner.cleaned"
    DEPLOYMENT_CREATED = "deployment.created"
    DEPLOYMENT_APPROVED = "deployment.approved"
    DEPLOYMENT_REJECTED = "deployment.rejected"
    HEAD_TURNED_RED = "head.turned_red"
    HEAD_TURNED_GREEN = "head.turned_green"
    ENVIRONMENT_CHANGED = "environment.changed"
    RELEASE_PUBLISHED = "release.published"
    RELEASE_COMPLETED = "release.completed"
    RELEASE_FAILED = "release.failed"


_OWN_WORDS = {each.partition(".")[0] for each in FeedType}
# With their plurals, which a reader could take for them.
RESERVED = {*_OWN_WORDS, *(f"{word}s" for word in _OWN_WORDS), "runledger"}


class FeedStatus(StrEnum):
    """Of the push delivery of an event."""

    RECEIVED = "received"
    RETRYING = "retrying"
    DELIVERED = "delivered"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedEvent:
    """`event_id` follows from what happened, so the same event has the same id however often it is derived.

    `origin` is the table that it is derived from, `reconciler`, or `api`.
    """

    installation_id: int
    event_id: str
    event_type: str
    occurred_at: str
    subject: str
    origin: str
    payload: Any = field(default_factory=dict)
    correlation_id: str | None = None
    source_ip: str | None = None


def event_id(*identity: object) -> str:
    return hashlib.sha256("\0".join(map(str, identity)).encode()).hexdigest()[:ID_LENGTH]


def is_kept(event_type: str, patterns: Iterable[str]) -> bool:
    """`patterns` are types, or parts of types with a star: `job.*`."""
    return any(fnmatchcase(event_type, pattern) for pattern in patterns)


def own_type_problem(event_type: str) -> str | None:
    """Why a team can't use this type for its own events; None if it can."""
    if len(event_type) > LONGEST_TYPE or not OWN_TYPE.fullmatch(event_type):
        return (
            "must be words of lower-case letters, digits and underscores, separated by dots: at least two words "
            f"and at most {LONGEST_TYPE} characters"
        )
    if event_type.partition(".")[0] in RESERVED:
        return f"must not begin with one of {', '.join(sorted(RESERVED))}: these types are Runledger's own"
    return None


def present(values: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Absent values are omitted."""
    return {name: values[name] for name in names if values.get(name) is not None}
