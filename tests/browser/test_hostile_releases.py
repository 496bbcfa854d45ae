"""Names that strangers choose for branches, environments and packages are shown as they are, and break nothing."""

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Open
from tests.browser.tab import PHONE

HTML = "<img src=x onerror=alert(1)>\"'&lt;b&gt;"
LONG = "x" * 300
NAME = f"{HTML} \u202eevil\u202c {LONG}"
SHA = "f" * 40
RUN = {
    "run_id": 7,
    "run_attempt": 1,
    "head_sha": SHA,
    "event": "push",
    "actor": NAME,
    "status": "completed",
    "conclusion": "failure",
    "created_at": "2025-01-15T10:00:00.000Z",
    "completed_at": "2025-01-15T10:05:00.000Z",
    "run_html_url": "javascript:alert(3)",
}
HEAD = {"workflow_id": 1, "workflow_name": NAME, "state": "red", "since": RUN["completed_at"]}
DEPLOYMENT = {
    "deployment_id": 9,
    "head_sha": SHA,
    "ref": NAME,
    "version": NAME,
    "run_id": 7,
    "creator": NAME,
    "state": "success",
    "created_at": RUN["created_at"],
    "succeeded_at": RUN["completed_at"],
}
ENVIRONMENT = {
    "repo_full_name": f"o/{LONG[:98]}",
    "environment": NAME,
    "is_production": True,
    "is_active": True,
    "current": DEPLOYMENT,
    "since": RUN["completed_at"],
    "is_rollback": True,
    "previous": DEPLOYMENT,
    "rollback_targets": [DEPLOYMENT],
    "latest": DEPLOYMENT | {"deployment_id": 10, "state": "failure"},
}
LINE = {
    "name": "p" * 214,
    "version": "1" * 100,
    "previous_version": "0" * 100,
    "status": "failed",
    "mode": "enforce",
    "message": NAME,
    "published_at": RUN["created_at"],
    "total_dependents": 2,
    "finished_dependents": 2,
    "failed_dependents": 1,
    "progress": 1,
}
DEPENDENT = {
    "name": "d" * 214,
    "range": NAME,
    "repo_full_name": f"o/{LONG[:98]}",
    "workflow": NAME,
    "status": "failed",
    "depends_on": ["other", "d" * 214],
    "run_id": None,
    "run_html_url": "javascript:alert(4)",
    "message": NAME,
}
BUILD = {
    "name": "p" * 214,
    "version": "1" * 100,
    "environment": NAME,
    "status": "failed",
    "total_variants": 3,
    "completed_variants": 1,
    "failed_variants": 1,
    "progress": 1 / 3,
    "error": True,
    "updated_at": RUN["created_at"],
}
VARIANT = {
    "variant": NAME,
    "status": "failed",
    "message": NAME,
    "details": NAME,
    "artifacts": [{"name": NAME, "url": "javascript:alert(5)", "sha256": "a" * 64, "size": 1}],
    "reported_at": RUN["created_at"],
}
VERSION = {"version": "1" * 100, "published_at": RUN["created_at"], "published_by": "api"}
PACKAGE_ITEM = {"name": "p" * 214, "version": "1" * 100, "repo_full_name": "o/r", "dependencies": {"d" * 214: NAME}}
FIGURES = {
    "repo_full_name": f"o/{LONG[:98]}",
    "environment": NAME,
    "deployments": 1,
    "deployments_per_day": 0.1,
    "lead_time_in_ms": {"p50": None, "p90": None, "count": 0},
    "failed_deployments": 0,
    "rolled_back_deployments": 0,
    "change_failure_rate": None,
    "time_to_restore_in_ms": {"p50": None, "p90": None, "count": 0},
    "over_time": [],
}
HOSTILE: dict[str, dict[str, Any]] = {
    "heads": {},
    "branch": {"part": "o/r"},
    "environments": {},
    "environment": {"part": "o/r", "environment": NAME},
    "releases": {},
    "release": {"part": "p", "version": "1"},
    "packages": {"part": "p"},
    "build": {"part": "p", "version": "1", "environment": NAME},
}


@pytest.mark.parametrize("options", [{}, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize("view", HOSTILE)
def test_hostile_names_are_shown_as_text_and_break_no_layout(
    open_tab: Open, view: str, options: dict[str, Any]
) -> None:
    tab = open_tab(**options).sign_in()
    tab.page.on("dialog", lambda dialog: tab.troubles.append(f"a script ran: {dialog.message}"))
    head = HEAD | {"repo_full_name": f"o/{LONG[:98]}", "branch": NAME, "is_default_branch": True, "last_run": RUN}
    bodies = {
        "heads": {"items": [head | {"last_green_run": None}], "next_cursor": None},
        "heads/o/r": {
            "repo_full_name": "o/r",
            "branch": NAME,
            "workflows": [HEAD],
            "commits": [{"head_sha": SHA, "committed_at": None, "runs": [RUN | {"workflow_id": 1}]}],
        },
        "environments": {"items": [ENVIRONMENT], "next_cursor": None},
        "environments/o/r": ENVIRONMENT | {"deployments": [DEPLOYMENT], "next_cursor": None},
        "dora": {"items": [FIGURES], "truncated": True},
        "releases": {"items": [LINE], "next_cursor": None},
        "packages": {"items": [PACKAGE_ITEM], "next_cursor": None},
        "packages/p": PACKAGE_ITEM | {"dependents": [DEPENDENT], "heads": [{"environment": NAME}]},
        "packages/p/versions": {"items": [VERSION], "next_cursor": None},
        "builds/p": {"items": [BUILD], "next_cursor": None},
        "builds/p/1": BUILD | {"created_at": RUN["created_at"], "variants": [VARIANT], "events": []},
        "releases/p/1": LINE | {"dependents": [DEPENDENT], "builds": [BUILD]},
    }
    for path, body in bodies.items():
        tab.fulfill(f"installations/1/{path}", body)
    tab.show(1, view, **HOSTILE[view])
    expect(tab.page.get_by_role("alert")).to_have_count(0)
    expect(tab.page.locator("tbody tr").first).to_be_visible()
    assert tab.page.locator("main img, main script, main b").count() == 0
    assert tab.page.locator("a[href^='javascript:']").count() == 0
    assert tab.overflow() <= 0
    assert tab.problems() == []
