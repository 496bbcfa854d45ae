"""The title and the lines of each type of message, for people. Pure.

Anyone who can push chooses the names of jobs and branches, and teams post custom events. So every value is shortened
here, without line breaks and invisible characters, and each channel escapes its own special characters.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from typing import Any

from runledger.feeds.events import FeedType
from runledger.model import times
from runledger.model.dataclass import dataclass
from runledger.notifications import digest_texts, release_texts
from runledger.notifications.words import clean, duration, joined, money, named

LONGEST_TITLE, LONGEST_LINE, MOST_LINES = 150, 500, 40
LONGEST_URL = 2000
MOST_FIELDS = 6
URL = re.compile(r"https?://[!-~]+")
# Of ntfy. A subscription or a user message sets them.
LONGEST_TAG, MOST_TAGS = 50, 5
LOWEST_PRIORITY, HIGHEST_PRIORITY = 1, 5
_is_tag = re.compile(rf"[-+_a-z0-9]{{1,{LONGEST_TAG}}}").fullmatch

Data = Mapping[str, Any]


class RunledgerType(StrEnum):
    """Types of messages that aren't about a feed event."""

    TEST = "runledger.test"
    MESSAGE = "runledger.message"
    REMINDER = "runledger.reminder"
    DIGEST = "runledger.digest"


class Urgency(StrEnum):
    LOW = "low"
    NORMAL = "normal"
    HIGH = "high"


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """`emoji` is a short code that both Slack and ntfy support. A user message may set `priority` and `tags`."""

    title: str
    lines: tuple[str, ...] = ()
    url: str | None = None
    urgency: Urgency = Urgency.NORMAL
    emoji: str | None = None
    priority: int | None = None
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Style:
    phrase: str
    emoji: str
    urgency: Urgency = Urgency.NORMAL


STYLES: Mapping[str, _Style] = {
    FeedType.JOB_QUEUED: _Style("Job queued", "hourglass", Urgency.LOW),
    FeedType.JOB_STARTED: _Style("Job started", "arrow_forward", Urgency.LOW),
    FeedType.JOB_COMPLETED: _Style("Job completed", "white_check_mark", Urgency.LOW),
    FeedType.JOB_FAILED: _Style("Job failed", "x", Urgency.HIGH),
    FeedType.JOB_INTERRUPTED: _Style("Job interrupted", "zap", Urgency.HIGH),
    FeedType.JOB_STUCK: _Style("Job stuck", "warning", Urgency.HIGH),
    FeedType.JOB_RECONCILED: _Style("Job corrected", "wrench", Urgency.LOW),
    FeedType.RUN_COMPLETED: _Style("Run completed", "white_check_mark", Urgency.LOW),
    FeedType.RUN_FAILED: _Style("Run failed", "x", Urgency.HIGH),
    FeedType.APPROVAL_REQUESTED: _Style("Approval requested", "raised_hand", Urgency.NORMAL),
    FeedType.APPROVAL_GIVEN: _Style("Approval given", "white_check_mark", Urgency.LOW),
    FeedType.APPROVAL_REFUSED: _Style("Approval rejected", "no_entry", Urgency.NORMAL),
    FeedType.APPROVAL_FORGOTTEN: _Style("Approval forgotten", "raised_hand", Urgency.HIGH),
    FeedType.RUNNER_REQUESTED: _Style("Runner requested", "computer", Urgency.NORMAL),
    FeedType.RUNNER_ORPHANED: _Style("Suspected orphan runner", "warning", Urgency.NORMAL),
    FeedType.RUNNER_CLEANED: _Style("Orphaned runner cleaned up", "broom", Urgency.NORMAL),
    FeedType.DEPLOYMENT_CREATED: _Style("Deployment created", "rocket", Urgency.LOW),
    FeedType.DEPLOYMENT_APPROVED: _Style("Deployment approved", "white_check_mark", Urgency.LOW),
    FeedType.DEPLOYMENT_REJECTED: _Style("Deployment rejected", "no_entry", Urgency.NORMAL),
    FeedType.HEAD_TURNED_RED: _Style("Turned red", "red_circle", Urgency.HIGH),
    FeedType.HEAD_TURNED_GREEN: _Style("Turned green again", "green_circle", Urgency.NORMAL),
    FeedType.ENVIRONMENT_CHANGED: _Style("Deployed", "rocket", Urgency.NORMAL),
    FeedType.RELEASE_PUBLISHED: _Style("Published", "package", Urgency.NORMAL),
    FeedType.RELEASE_COMPLETED: _Style("Release completed", "white_check_mark", Urgency.NORMAL),
    FeedType.RELEASE_FAILED: _Style("Release failed", "x", Urgency.HIGH),
}


def text_of(envelope: Mapping[str, Any]) -> Text:
    """Never fails, whatever data the event has."""
    found = envelope.get("data")
    data: Data = found if isinstance(found, Mapping) else {}
    kind = str(envelope.get("type", ""))
    if kind in (RunledgerType.MESSAGE, RunledgerType.REMINDER, RunledgerType.TEST):
        return _message(kind, data)
    if kind == RunledgerType.DIGEST:
        lines = digest_texts.lines(data)
        return Text(title=_title(digest_texts.title(data)), lines=_fitting(lines), emoji="bar_chart")
    if kind in STYLES:
        return _event(STYLES[kind], FAMILIES[kind.partition(".")[0]], envelope, data)
    return Text(title=_title(f"{kind}: {envelope.get('subject', '')}"), lines=_fitting(_fields(data)))


def headline(envelope: Mapping[str, Any]) -> str:
    """The title, or the first line of a user message without one."""
    found, data = text_of(envelope), envelope.get("data")
    is_text = envelope.get("type") in (RunledgerType.MESSAGE, RunledgerType.REMINDER)
    has_title = isinstance(data, Mapping) and data.get("title")
    return found.lines[0] if is_text and not has_title and found.lines else found.title


def _event(style: _Style, family: "_Family", envelope: Mapping[str, Any], data: Data) -> Text:
    subject = family.name(data) or str(envelope.get("subject", ""))
    repo = data.get("repo_full_name")
    return Text(
        title=_title(f"{style.phrase}: {subject}" + (f" in {repo}" if repo else "")),
        lines=_fitting(family.lines(data, str(envelope.get("time", "")))),
        url=_url(data.get("job_html_url") or data.get("run_html_url")),
        urgency=style.urgency,
        emoji=style.emoji,
    )


def _message(kind: str, data: Data) -> Text:
    """The text of a user message, a reminder or a test."""
    written = data.get("text")
    lines = written.splitlines() if isinstance(written, str) else []
    titles = {RunledgerType.TEST: "Test message from Runledger", RunledgerType.REMINDER: "Reminder"}
    default = titles.get(RunledgerType(kind), "Message")
    priority, tags = data.get("priority"), data.get("tags")
    return Text(
        title=_title(str(data.get("title") or default)),
        lines=_fitting(lines),
        url=_url(data.get("click_url")),
        emoji={RunledgerType.TEST: "test_tube", RunledgerType.REMINDER: "bell"}.get(RunledgerType(kind)),
        priority=priority if is_priority(priority) else None,
        tags=tuple(filter(is_tag, tags)) if isinstance(tags, list) else (),
    )


def _job_lines(data: Data, at: str) -> Iterator[str]:
    yield joined(
        data.get("workflow_name"),
        named("branch", data.get("head_branch")),
        named("attempt", data.get("run_attempt") if data.get("run_attempt") != 1 else None),
    )
    yield joined(
        named("conclusion", data.get("conclusion")),
        named("status", data.get("status") if "conclusion" not in data else None),
        named("environment", data.get("environment")),
    )
    if "stuck_since" in data:
        yield f"since {data['stuck_since']} ({_age(data['stuck_since'], at)})"
    if "runner_requests" in data and data.get("status") in ("queued", "scheduled"):
        yield f"request {data['runner_requests']}, labels: {_listed(data.get('labels'))}"
    yield joined(
        named("runner", data.get("runner_name") or data.get("instance_id")),
        data.get("instance_type"),
        data.get("instance_lifecycle"),
        named("pool", data.get("pool_name")),
    )
    yield joined(
        named("ran for", duration(data.get("usage_in_seconds"))),
        named("cost", money(data.get("usage_in_dollars"))),
    )


def _reconciliation_lines(data: Data) -> Iterator[str]:
    changes = data["changes"] if isinstance(data["changes"], Mapping) else {}
    for name, change in changes.items():
        if isinstance(change, Mapping):
            yield f"{name}: {change.get('from', 'absent')} → {change.get('to', 'absent')}"


def _lines_of_job(data: Data, at: str) -> Iterator[str]:
    return _reconciliation_lines(data) if "changes" in data else _job_lines(data, at)


def _run_lines(data: Data, _at: str) -> Iterator[str]:
    yield joined(
        named("branch", data.get("head_branch")),
        named("attempt", data.get("run_attempt") if data.get("run_attempt") != 1 else None),
        named("conclusion", data.get("conclusion")),
    )
    if data.get("failed_jobs"):
        yield f"{data['failed_jobs']} of {data.get('total_jobs', 'its')} jobs failed"


def _approval_lines(data: Data, at: str) -> Iterator[str]:
    if "waiting_since" not in data:
        yield from _job_lines(data, at)
        return
    yield f"waiting since {data['waiting_since']} ({_age(data['waiting_since'], at)})"
    jobs = data.get("job_ids")
    if isinstance(jobs, list):
        yield f"{len(jobs)} waiting job{'s' if len(jobs) != 1 else ''}"


def _runner_lines(data: Data, at: str) -> Iterator[str]:
    if "runner_id" not in data:
        yield from _job_lines(data, at)
        return
    yield joined(data.get("kind"), named("pool", data.get("pool_name")), named("job", data.get("job_id")))
    yield joined(named("reason", data.get("terminated_reason") or data.get("suspected_reason")))


def _deployment_lines(data: Data, _at: str) -> Iterator[str]:
    yield joined(named("deployment", data.get("deployment_id")), named("status", data.get("status")))


@dataclass(frozen=True, slots=True)
class _Family:
    """Event types that begin with the same word. `names` are the fields that name the event's subject."""

    names: tuple[str, ...]
    lines: Callable[[Data, str], Iterator[str]]

    def name(self, data: Data) -> str | None:
        return next((str(data[name]) for name in self.names if data.get(name)), None)


FAMILIES: Mapping[str, _Family] = {
    "job": _Family(("job_name",), _lines_of_job),
    "run": _Family(("workflow_name",), _run_lines),
    "approval": _Family(("environment", "job_name"), _approval_lines),
    "runner": _Family(("runner_id", "job_name"), _runner_lines),
    "deployment": _Family(("environment",), _deployment_lines),
    "head": _Family(("workflow_name", "workflow_id"), release_texts.head_lines),
    "environment": _Family(("environment",), release_texts.environment_lines),
    "release": _Family(("name",), release_texts.release_lines),
}


def _fields(data: Data) -> Iterator[str]:
    """The first plain values of a custom event."""
    scalars = [(name, value) for name, value in data.items() if isinstance(value, str | int | float)]
    for name, value in scalars[:MOST_FIELDS]:
        yield f"{name}: {value}"


def _title(text: str) -> str:
    return clean(text, longest=LONGEST_TITLE) or "Event"


def _fitting(lines: "Iterator[str] | list[str]") -> tuple[str, ...]:
    found = [line for each in lines if (line := clean(each, longest=LONGEST_LINE))]
    hidden = len(found) - MOST_LINES
    return (*found[:MOST_LINES], *([f"and {hidden} more lines"] if hidden > 0 else []))


def _url(value: object) -> str | None:
    is_url = isinstance(value, str) and len(value) <= LONGEST_URL and URL.fullmatch(value)
    return str(value) if is_url else None


def is_tag(value: object) -> bool:
    return isinstance(value, str) and _is_tag(value) is not None


def is_priority(value: object) -> bool:
    return type(value) is int and LOWEST_PRIORITY <= value <= HIGHEST_PRIORITY


def _listed(values: object) -> str:
    return ", ".join(map(str, values)) if isinstance(values, list) and values else "none"


def _age(since: object, at: str) -> str:
    try:
        return duration(times.ms_between(str(since), at) // times.MS_PER_SECOND) or "now"
    except (ValueError, TypeError):
        return "unknown"
