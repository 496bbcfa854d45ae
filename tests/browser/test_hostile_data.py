"""What strangers write into their workflows is shown as what they wrote, and breaks nothing."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from playwright.sync_api import Route, expect

from local.aws.outputs import Outputs
from local.github import webhooks as github_webhooks
from tests.browser.conftest import Open
from tests.browser.tab import PHONE
from tests.support import webhooks

INSTALLATION, JOB, RUN = 66_600_666, 66_600_001, 66_600_002
HTML = "<img src=x onerror=alert(1)><script>alert(2)</script>\"'&lt;b&gt;"
RIGHT_TO_LEFT = "\u202eevil\u202c שלום עולם مرحبا"
LONG = "x" * 500
NAME = f"{HTML} {RIGHT_TO_LEFT}"
REPO = "acme/" + "r" * 98
VIEWS: dict[str, dict[str, Any]] = {
    "overview": {},
    "jobs": {"status": "in_progress"},
    "job": {"part": JOB},
    "run": {"part": RUN},
    "repositories": {},
    "repository": {"repo": REPO},
}


@pytest.fixture(scope="module")
def hostile(outputs: Outputs) -> None:
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    for step, attacked in (("queued", False), ("in_progress", True)):
        message = webhooks.payload(
            step,
            job_id=JOB,
            run_id=RUN,
            name=NAME,
            workflow_name=f"{LONG} {HTML}",
            head_branch=f"{RIGHT_TO_LEFT}/{LONG}",
            labels=[HTML, RIGHT_TO_LEFT, LONG],
            html_url="javascript:alert(3)",
            created_at=now,
            started_at=now,
            **({"runner_name": f"{HTML}{LONG}"} if attacked else {}),
        )
        message["installation"] = {"id": INSTALLATION}
        message["repository"]["full_name"] = REPO
        message["organization"] = {"login": HTML}
        response = github_webhooks.deliver(
            outputs.webhook_url, outputs.webhook_secret, "workflow_job", json.dumps(message).encode()
        )
        assert response.status == 202


@pytest.mark.usefixtures("hostile")
@pytest.mark.parametrize("options", [{}, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize("view", VIEWS)
def test_hostile_data_is_shown_as_text_and_breaks_no_layout(
    open_tab: Open, view: str, options: dict[str, object]
) -> None:
    tab = open_tab(**options).sign_in()
    tab.page.on("dialog", lambda dialog: tab.troubles.append(f"a script ran: {dialog.message}"))
    tab.show(INSTALLATION, view, **VIEWS[view])
    assert tab.page.locator("main img, main script, main b:has-text('rrr')").count() == 0
    assert tab.page.locator("a[href^='javascript:']").count() == 0
    assert tab.overflow() <= 0
    assert tab.problems() == []


@pytest.mark.usefixtures("hostile")
def test_every_character_of_a_name_and_a_label_can_be_read(open_tab: Open) -> None:
    page = open_tab().sign_in().show(INSTALLATION, "job", part=JOB).page
    expect(page.get_by_role("heading", level=1)).to_have_text(NAME, use_inner_text=False)
    html, right_to_left, long = page.locator("dt:text-is('Labels') + dd .tag").all_text_contents()
    assert (html, right_to_left) == (HTML, RIGHT_TO_LEFT)
    assert LONG.startswith(long)  # the ledger cuts what is longer than a name can be
    assert len(long) > 200
    assert page.title() == f"{NAME} · Runledger"


def _posted(number: int, **event: Any) -> dict[str, Any]:
    return {
        "id": f"{number:032x}",
        "type": "audit.finished",
        "subject": "jobs/1",
        "time": "2025-01-15T10:00:00.000Z",
        "origin": "api",
        "data": {"job_name": HTML},
    } | event


@pytest.mark.usefixtures("hostile")
def test_hostile_events_of_the_feed_are_marked_as_posted_and_break_nothing(open_tab: Open) -> None:
    broken = {"toString": 1}
    names = ("repo_full_name", "head_branch", "environment", "conclusion", "job_name")
    data: list[Any] = [dict.fromkeys(names, value) for value in (broken, [broken], 5, True, HTML)]
    posted = [_posted(number, data=each) for number, each in enumerate([*data, broken, [broken], "x", 7, None])]
    own = _posted(99, type="job.failed", origin="workflow_jobs", data=dict.fromkeys(names, broken))
    tab = open_tab().sign_in()
    tab.page.route("**/v1/me", _with_feed)
    tab.fulfill(f"installations/{INSTALLATION}/feed", {"items": [*posted, own], "next_cursor": None})
    tab.page.reload()
    tab.show(INSTALLATION, "overview")
    rows = tab.page.locator("table", has_text="audit.finished").locator("tbody tr")
    expect(rows).to_have_count(len(posted) + 1)
    expect(rows.filter(has_text="(posted)")).to_have_count(len(posted))
    expect(rows.locator("a")).to_have_count(1)
    assert tab.page.locator("main img, main script").count() == 0


def _with_feed(route: Route) -> None:
    response = route.fetch()
    route.fulfill(response=response, json=response.json() | {"feed": True})
