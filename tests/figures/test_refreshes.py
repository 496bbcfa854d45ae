"""A visible tab refreshes its figures for hours, so each refresh has to be cheap."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Request, expect

from local import browser
from stacks.constructs import web
from tests.api.client import Client
from tests.api.conftest import Live, api, ledger, live
from tests.figures.month import NOW, text
from tests.figures.page import Dashboard
from tests.functions.conftest import world
from tests.support.webhooks import QUEUED

__all__ = ["api", "ledger", "live", "world"]

MINUTE_MS = 60_000
TODAY = text(NOW)


@pytest.fixture
def dashboard(api: Client, live: Live, tmp_path: Path) -> Iterator[Dashboard]:
    live(1, created_at=TODAY, started_at=TODAY, completed_at=TODAY)
    web.build(tmp_path)
    with browser.running() as chromium:
        tab = Dashboard(chromium, api, tmp_path, stands_still=False)
        yield tab
        tab.close()
    assert tab.troubles == []


def test_completed_jobs_are_counted_every_five_minutes_and_open_ones_every_15_seconds(
    dashboard: Dashboard, live: Live
) -> None:
    page, sent = dashboard.page, list[Request]()
    page.on("request", lambda request: sent.append(request) if "/counts" in request.url else None)
    completed = page.locator(".tiles.now .tile", has_text="Completed").locator(".tile-value")
    queued = page.locator(".tiles.now .tile", has_text="Queued").locator(".tile-value")
    dashboard.view("overview")
    expect(completed).to_have_text("1")
    live(2, created_at=TODAY, started_at=TODAY, completed_at=TODAY)
    live(3, until=QUEUED, created_at=TODAY)
    sent.clear()
    for _ in range(16):
        page.clock.run_for(MINUTE_MS // 4)
        dashboard.settled()
    # A timer begins when the response has arrived, so a busy machine has fewer of them.
    assert len(sent) >= 8
    assert [request for request in sent if "completed=false" not in request.url] == []
    expect(queued).to_have_text("1")
    expect(completed).to_have_text("1")
    # The list of jobs shows the same number, and needs no other request.
    dashboard.view("jobs")
    assert [request for request in sent if "completed=false" not in request.url] == []
    for _ in range(8):
        page.clock.run_for(MINUTE_MS // 4)
        dashboard.settled()
    assert len([request for request in sent if "completed=false" not in request.url]) == 1
    expect(page.locator("#choice-completed .number")).to_have_text("2 in 24 h")
