"""The dashboard in a real browser, on the deployed app with the demo's data."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import Browser, Page, expect

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
    """A page sends several requests at once, and each needs a process of the function, which is slow to start."""

    def call(_: int) -> int:
        request = Request(f"{outputs.api_url}/v1/me", headers={"Authorization": f"Bearer {outputs.admin_token}"})
        with urlopen(request, timeout=SECONDS_TO_START) as response:
            return int(response.status)

    with ThreadPoolExecutor(AT_ONCE) as threads:
        assert set(threads.map(call, range(AT_ONCE))) == {200}


@pytest.fixture(scope="package")
def first_page(chromium: Browser, outputs: Outputs, warm: None) -> Iterator[Page]:
    """Stays open in the shared context: Chromium renders other pages in its process, and starting one takes long."""
    assert warm is None
    context = chromium.new_context()
    page = context.new_page()
    page.goto(f"{outputs.api_url}/")
    page.get_by_label("Access token").wait_for(timeout=PATIENCE_MS)
    yield page
    context.close()


@pytest.fixture
def open_tab(chromium: Browser, outputs: Outputs, first_page: Page) -> Iterator[Open]:
    """Each tab has a session of its own. In the end, none may have an error that the test didn't expect.

    Tabs with options are in contexts of their own. `alone` gives one to a tab without options: a clock applies to all
    tabs of a context.
    """
    opened: list[Tab] = []

    def open_tab(*, alone: bool = False, **options: object) -> Tab:
        shared = None if alone or options else first_page.context
        opened.append(Tab(chromium, outputs, shared=shared, **options))
        return opened[-1]

    yield open_tab
    for tab in opened:
        tab.close()
    assert [trouble for tab in opened for trouble in tab.troubles] == []
    assert "[native code]" in first_page.evaluate("String(Date)"), "a clock was installed in the shared context"
    left = first_page.evaluate("[localStorage.length, sessionStorage.length, document.cookie]")
    assert left == [0, 0, ""], "a tab has left something in the shared context"


@pytest.fixture
def tab(open_tab: Open, sent: list[Step]) -> Tab:
    """Signed in, with the demo's data."""
    assert sent
    return open_tab().sign_in()
