"""Feed events and their types. Pure."""

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import field
from enum import StrEnum
from typing import Any

from runledger.model.dataclass import dataclass
from runledger.model.patterns import matches

ID_LENGTH = 32
LONGEST_TYPE = 100
CUSTOM_TYPE = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+")
API_VERSION = "v1"
ALL_TYPES = ("*",)


class FeedType(StrEnum):
    """The built-in types. Teams can post events with custom types too."""

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


_BUILT_IN_WORDS = {each.partition(".")[0] for each in FeedType}
# The plurals too, because they look like built-in types.
RESERVED = {*_BUILT_IN_WORDS, *(f"{word}s" for word in _BUILT_IN_WORDS), "runledger"}


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedEvent:
    """`event_id` is a hash of what happened, so an event that is derived again has the same id.

    `origin` is the source table, `reconciler`, or `api`.
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
    """`patterns` are types, or types with a star: `job.*`."""
    return any(matches(event_type, pattern) for pattern in patterns)


def custom_type_problem(event_type: str) -> str | None:
    """Why a custom event can't have this type; None if it can."""
    if len(event_type) > LONGEST_TYPE or not CUSTOM_TYPE.fullmatch(event_type):
        return (
            "must consist of at least two words of lower-case letters, digits and underscores, separated by dots, "
            f"and have at most {LONGEST_TYPE} characters"
        )
    if event_type.partition(".")[0] in RESERVED:
        return f"must not begin with one of the words that are reserved for Runledger: {', '.join(sorted(RESERVED))}"
    return None


def present(values: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Absent values are omitted."""
    return {name: values[name] for name in names if values.get(name) is not None}
