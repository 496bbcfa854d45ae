"""A browser for tests and pictures: the machine's own Chromium, because Playwright would else fetch one."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING

from playwright.sync_api import sync_playwright

from local.processes import LocalError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

# As the Makefile looks for them.
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@contextmanager
def running() -> Iterator[Browser]:
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        raise LocalError(f"there is no {' or '.join(NAMES)} on the PATH: `make chromium` installs Debian's")
    with sync_playwright() as playwright:
        # Containers mostly run as root, where Chromium has no sandbox; it is only shown our own page.
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()
