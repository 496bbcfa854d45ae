"""The dashboard in a real browser, on the deployed app with the demo's data."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import Browser, expect

from local import browser
from local.aws.outputs import Outputs
from local.demo.steps import Step
from tests.browser.tab import PATIENCE_MS, Tab

expect.set_options(timeout=PATIENCE_MS)
AT_ONCE = 6
SECONDS_TO_START = 180
Open = Callable[..., Tab]


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    with browser.running() as running:
        yield running


@pytest.fixture(scope="package")
def warm(outputs: Outputs) -> None:
    """A page asks for several things at once, and here each takes a process that has to start first."""

    def ask(_: int) -> int:
        asked = Request(f"{outputs.api_url}/v1/me", headers={"Authorization": f"Bearer {outputs.admin_token}"})
        with urlopen(asked, timeout=SECONDS_TO_START) as answer:
            return int(answer.status)

    with ThreadPoolExecutor(AT_ONCE) as threads:
        assert set(threads.map(ask, range(AT_ONCE))) == {200}


@pytest.fixture
def open_tab(chromium: Browser, outputs: Outputs, warm: None) -> Iterator[Open]:
    """Each tab is a visitor of its own; in the end none may have had any trouble that was not expected."""
    assert warm is None
    opened: list[Tab] = []

    def open_tab(**options: object) -> Tab:
        opened.append(Tab(chromium, outputs, **options))
        return opened[-1]

    yield open_tab
    for tab in opened:
        tab.close()
    assert [trouble for tab in opened for trouble in tab.troubles] == []


@pytest.fixture
def tab(open_tab: Open, sent: list[Step]) -> Tab:
    """Signed in, with the demo's data."""
    assert sent
    return open_tab().sign_in()
