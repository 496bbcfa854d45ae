"""The page of a deployment with notifications in a real browser, and what the sender does meanwhile."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator
from runledger.model import times

from stacks.constructs import web
from tests.api.client import TOKENS, Client
from tests.figures.month import NOW, text
from tests.figures.page import Dashboard
from tests.notifications.scenes import Scene
from tests.support.memory import engine
from tests.support.webhooks import INSTALLATION

Open = Callable[..., Dashboard]
TODAY = text(NOW)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    web.build(folder)
    return folder


@pytest.fixture
def open_page(chromium: Browser, client: Client, built: Path) -> Iterator[Open]:
    opened: list[Dashboard] = []

    def open_page(*, role: str = "operator", **options: Any) -> Dashboard:
        opened.append(Dashboard(chromium, client.with_token(TOKENS[role]), built, **options))
        return opened[-1]

    yield open_page
    for each in opened:
        each.close()
    assert [trouble for each in opened for trouble in each.troubles] == []


def today(client: Client) -> Client:
    return replace(client, now_ms=int(NOW.timestamp()) * 1000)


def scene() -> Scene:
    found = Scene(engine())
    found.clock.now = TODAY
    return found


def complete(message: dict[str, Any]) -> None:
    """Mark a message as completed, as the sender does."""
    table = scene().messages
    claimed = table.claim(_stored(message), at=TODAY, until=times.earlier(TODAY, seconds=-120))
    assert claimed
    assert table.complete(claimed, at=TODAY, notification_id="n1")


def _stored(message: dict[str, Any]) -> Any:
    return scene().messages.get(INSTALLATION, message["message_id"])


def row(tab: Dashboard, heading: str, name: str) -> Locator:
    panel = tab.page.locator(".panel", has=tab.page.get_by_role("heading", name=heading, exact=True))
    return panel.locator("tbody tr", has_text=name)
