"""The real page in Chromium. The API's handler responds to its requests, at the end of the month."""

import gzip
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from playwright.sync_api import Browser, Route

from local import browser
from local.aws.outputs import Outputs
from tests.api.client import TOKENS, Client
from tests.browser.tab import Tab
from tests.figures.month import NOW
from tests.support.webhooks import INSTALLATION

HOME = "http://runledger.test"  # no request leaves the browser
TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}
OUTPUTS = Outputs(
    **dict.fromkeys(("endpoint_url", "webhook_url", "github_api_url", "api_url"), HOME),
    **dict.fromkeys(("region", "webhook_secret", "event_bus"), ""),
    admin_token=TOKENS["operator"],
    tables={},
    functions={},
)
LINES = "each.innerText.split('\\n').map((line) => line.trim()).filter(Boolean)"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser.running() as running:
        yield running


class Dashboard(Tab):
    """Its clock stands still at the end of the month, or begins there."""

    def __init__(
        self, browser: Browser, client: Client, built: Path, *, stands_still: bool = True, **options: Any
    ) -> None:
        super().__init__(browser, OUTPUTS, locale="en-GB", timezone_id="UTC", **options)
        self._client = replace(client, now_ms=int(NOW.timestamp()) * 1000)
        self._built = built
        if stands_still:
            self.page.clock.set_fixed_time(NOW)
        else:
            self.page.clock.install(time=NOW)
        self.page.route(f"{HOME}/**", self._respond)
        self.sign_in(client.token)

    def view(self, name: str, **query: Any) -> "Dashboard":
        self.show(INSTALLATION, name, **query)
        return self

    def lines(self, selector: str) -> list[list[str]]:
        """The lines of text in each of the elements."""
        found: list[list[str]] = self.page.locator(selector).evaluate_all(f"all => all.map((each) => {LINES})")
        return found

    def table(self, caption: str) -> list[dict[str, list[str]]]:
        """The lines of text in each cell, by the title of its column."""
        titles, rows = self.page.locator("main table", has=self.page.locator("caption", has_text=caption)).evaluate(
            "table => [[...table.tHead.rows[0].cells].map((each) => each.textContent), "
            f"[...table.tBodies[0].rows].map((row) => [...row.cells].map((each) => {LINES}))]"
        )
        return [dict(zip(titles, row, strict=True)) for row in rows]

    def facts(self) -> dict[str, str]:
        """Names and values of the details."""
        names, values = self.lines(".facts:not(.changes *) > dt"), self.lines(".facts:not(.changes *) > dd")
        return {name[0]: " ".join(value) for name, value in zip(names, values, strict=True)}

    def _respond(self, route: Route) -> None:
        url = urlsplit(route.request.url)
        file = self._built / f"{url.path.strip('/') or 'index.html'}.gz"
        if file.exists():
            route.fulfill(body=gzip.decompress(file.read_bytes()), content_type=TYPES[Path(file.stem).suffix])
            return
        client = self._client.with_token(route.request.headers["authorization"].removeprefix("Bearer "))
        body = {"body": route.request.post_data} if route.request.post_data else {}
        response = client.request(route.request.method, url.path, query=dict(parse_qsl(url.query)), **body)
        route.fulfill(status=response.status, json=response.body)
