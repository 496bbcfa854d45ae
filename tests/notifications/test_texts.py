"""One title and a few lines for each type of event, whatever its data contains."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from runledger.feeds.events import FeedType
from runledger.notifications.channels import ntfy, slack
from runledger.notifications.texts import (
    LONGEST_LINE,
    LONGEST_TITLE,
    MOST_LINES,
    STYLES,
    RunledgerType,
    Text,
    Urgency,
    text_of,
)
from runledger.notifications.words import clean, duration, money, percent

from tests.notifications.channels.scene import JOB, event

URL = "https://github.com/acme/storefront/actions/runs/4001"
EXAMPLES: dict[str, tuple[dict[str, Any], str, tuple[str, ...]]] = {
    "job.failed": (
        JOB | {"runner_name": "i-0abc", "instance_type": "c7g.large", "instance_lifecycle": "spot"},
        "Job failed: build in acme/storefront",
        ("CI, branch main", "conclusion failure", "runner i-0abc, c7g.large, spot"),
    ),
    "job.completed": (
        JOB | {"conclusion": "success", "run_attempt": 2, "usage_in_seconds": 605, "usage_in_dollars": 0.004321},
        "Job completed: build in acme/storefront",
        ("CI, branch main, attempt 2", "conclusion success", "ran for 10 min 5 s, cost $0.0043"),
    ),
    "job.stuck": (
        {"installation_id": 7, "job_id": 5, "status": "queued", "stuck_since": "2026-11-17T09:00:00.000Z"},
        "Job stuck: jobs/5001",
        ("status queued", "since 2026-11-17T09:00:00.000Z (1 h 30 min)"),
    ),
    "job.reconciled": (
        {"installation_id": 7, "job_id": 5, "changes": {"status": {"from": "queued", "to": "completed"}}},
        "Job corrected: jobs/5001",
        ("status: queued → completed",),
    ),
    "run.failed": (
        {
            "workflow_name": "CI",
            "repo_full_name": "acme/web",
            "conclusion": "failure",
            "failed_jobs": 2,
            "total_jobs": 9,
        },
        "Run failed: CI in acme/web",
        ("conclusion failure", "2 of 9 jobs failed"),
    ),
    "approval.requested": (
        JOB | {"environment": "production", "status": "waiting", "conclusion": None},
        "Approval requested: production in acme/storefront",
        ("CI, branch main", "environment production"),
    ),
    "approval.forgotten": (
        {"environment": "production", "waiting_since": "2026-11-15T10:00:00.000Z", "job_ids": [1], "run_html_url": URL},
        "Approval forgotten: production",
        ("waiting since 2026-11-15T10:00:00.000Z (2 d 30 min)", "1 waiting job"),
    ),
    "runner.requested": (
        {"job_name": "build", "status": "queued", "runner_requests": 2, "labels": ["self-hosted", "x64"]},
        "Runner requested: build",
        ("status queued", "request 2, labels: self-hosted, x64"),
    ),
    "runner.cleaned": (
        {"runner_id": "i-1", "kind": "ec2", "status": "cleaned", "terminated_reason": "no_job"},
        "Orphaned runner cleaned up: i-1",
        ("ec2", "reason no_job"),
    ),
    "deployment.created": (
        {"deployment_id": 9, "environment": "production", "repo_full_name": "acme/web", "status": "pending"},
        "Deployment created: production in acme/web",
        ("deployment 9, status pending",),
    ),
    "head.turned_red": (
        {
            "workflow_name": "CI",
            "repo_full_name": "acme/web",
            "head_branch": "main",
            "head_sha": "0123456789abcdef",
            "actor": "octocat",
            "conclusion": "failure",
            "run_id": 7,
            "since": "2026-11-17T10:20:00.000Z",
        },
        "Turned red: CI in acme/web",
        (
            "branch main, commit 0123456, by octocat",
            "conclusion failure, run 7, since 2026-11-17T10:20:00.000Z",
        ),
    ),
    "environment.changed": (
        {
            "environment": "production",
            "repo_full_name": "acme/web",
            "is_rollback": True,
            "current": {"version": "1.2.2", "head_sha": "abcdef0123", "ref": "main", "creator": "octocat"},
            "previous": {"head_sha": "0123456789"},
        },
        "Deployed: production in acme/web",
        ("rollback, version 1.2.2, commit abcdef0, from main, by octocat", "previous commit 0123456"),
    ),
    "release.failed": (
        {
            "name": "@acme/ui",
            "version": "1.2.3",
            "previous_version": "1.2.2",
            "mode": "enforce",
            "total_dependents": 3,
            "finished_dependents": 3,
            "failed_dependents": 1,
        },
        "Release failed: @acme/ui",
        ("version 1.2.3, previous version 1.2.2", "3 of 3 dependents finished, 1 failed"),
    ),
    "release.published": (
        {"name": "@acme/ui", "version": "1.2.3", "mode": "dry_run", "total_dependents": 2, "message": "a → b"},
        "Published: @acme/ui",
        ("version 1.2.3", "0 of 2 dependents finished, dry run: nothing is rebuilt", "a → b"),
    ),
    "audit.finished": ({"version": "1.2.3", "files": [1]}, "audit.finished: jobs/5001", ("version: 1.2.3",)),
    "runledger.test": ({"text": "It works"}, "Test message from Runledger", ("It works",)),
    "runledger.message": ({"title": "Freeze", "text": "a\nb"}, "Freeze", ("a", "b")),
}


def read(kind: str, data: Any) -> Text:
    return text_of(event(kind, data, time="2026-11-17T10:30:00.000Z"))


@pytest.mark.parametrize("kind", EXAMPLES)
def test_an_event_has_a_title_and_lines(kind: str) -> None:
    data, title, lines = EXAMPLES[kind]
    found = read(kind, data)
    assert (found.title, found.lines) == (title, lines)


def test_every_type_of_the_feed_has_words_of_its_own() -> None:
    assert {*STYLES} == {*FeedType}
    assert len({style.phrase for style in STYLES.values()}) == len(FeedType)


def test_a_job_links_to_its_page_and_an_approval_to_its_run() -> None:
    assert read("job.failed", JOB).url == JOB["job_html_url"]
    assert read("approval.forgotten", EXAMPLES["approval.forgotten"][0]).url == URL


def test_failures_are_more_urgent_than_successes() -> None:
    assert read("job.failed", JOB).urgency is Urgency.HIGH
    assert read("job.completed", JOB).urgency is Urgency.LOW


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("a\r\nb\tc", "a b c"),
        ("\x00\x1b[31mred", "[31mred"),
        ("left\u202eright", "left right"),
        ("half \ud800 a pair", "half a pair"),
        ("  ", ""),
        ("x" * 20, "x" * 9 + "…"),
    ],
)
def test_line_breaks_and_invisible_characters_are_removed(text: str, cleaned: str) -> None:
    assert clean(text, longest=10 if len(text) == 20 else 100) == cleaned


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (59, "59 s"),
        (3600, "1 h"),
        (90_061, "1 d 1 h"),
        (61.4, "1 min 1 s"),
        (-1, None),
        ("1", None),
        (None, None),
    ],
)
def test_a_duration_has_its_two_largest_units(seconds: object, text: str | None) -> None:
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("dollars", "text"),
    [
        (0, "$0.00"),
        (1234.5, "$1,234.50"),
        (0.00123, "$0.0012"),
        (-3, "-$3.00"),
        ("nan", None),
        (True, None),
        (None, None),
    ],
)
def test_an_amount_is_in_dollars(dollars: object, text: str | None) -> None:
    assert money(dollars) == text


def test_a_share_is_in_percent() -> None:
    assert (percent(0.4), percent(1), percent(None), percent(True)) == ("40 %", "100 %", None, None)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
FIELDS = st.sampled_from(
    [
        *("job_name", "repo_full_name", "head_branch", "stuck_since", "changes", "labels", "runner_requests", "status"),
        *(
            "usage_in_dollars",
            "usage_in_seconds",
            "waiting_since",
            "job_ids",
            "failed_jobs",
            "runner_id",
            "job_html_url",
        ),
        *("title", "text", "tags", "priority", "click_url", "failed_most", "slowest", "costliest", "queue_seconds"),
        *("forgotten_approvals", "forgotten_approvals_total", "jobs", "since", "until", "schedule", "conclusion"),
    ]
)


@settings(max_examples=50, deadline=None, database=None)
@given(
    kind=st.sampled_from([*FeedType, *RunledgerType, "audit.finished", ""]),
    data=VALUES | st.dictionaries(FIELDS, VALUES, max_size=6),
)
def test_no_data_breaks_a_text_or_a_message(kind: str, data: Any) -> None:
    text = text_of({"type": kind, "data": data, "time": "2026-11-17T10:30:00.000Z"})
    assert 1 <= len(text.title) <= LONGEST_TITLE
    assert len(text.lines) <= MOST_LINES + 1
    assert all(line.isprintable() and 1 <= len(line) <= LONGEST_LINE for line in (text.title, *text.lines))
    for message in (slack.message(text), ntfy.message(text, topic="topic", config={})):
        json.dumps(message).encode()
        json.dumps(message, ensure_ascii=False).encode()
