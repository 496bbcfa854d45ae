"""The browser for tests and screenshots: the installed Chromium, so Playwright doesn't download one."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING

from playwright.sync_api import sync_playwright

from local.processes import LocalError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

# The same names as in the Makefile.
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@contextmanager
def running() -> Iterator[Browser]:
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        raise LocalError(
            f"no {' or '.join(NAMES)} on the PATH: install Chromium yourself, or as root with `make chromium`"
        )
    with sync_playwright() as playwright:
        # Chromium's sandbox doesn't work as root, as in containers. Only the local page is opened.
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()
