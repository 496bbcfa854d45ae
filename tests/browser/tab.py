"""A signed-in browser tab that opens views by their address and collects console errors."""

import json
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl, quote, urlsplit

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Response, Route, expect

from local import ROOT
from local.aws.outputs import Outputs

AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
CANNED = 1  # the installation of responses that tests make up
PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}
# Shown after signing in, because it loads nothing: the overview calls the API five times, and few tests need it.
NO_VIEW = "#//none"
# A function that has not run yet takes seconds to start on a busy machine.
PATIENCE_MS = 60_000
# The browser logs these responses, which the demo's data and the tests cause on purpose.
REFUSED = re.compile(r"Failed to load resource: the server responded with a status of (40[01349]|422|429|503)")


class Tab:
    """A tab in a context of its own with these options, or in one that tabs share, with a session of its own."""

    def __init__(
        self, browser: Browser, outputs: Outputs, *, shared: BrowserContext | None = None, **options: Any
    ) -> None:
        self._outputs = outputs
        self._is_alone = shared is None
        self._context = shared or browser.new_context(**options)
        self._context.set_default_timeout(PATIENCE_MS)
        self.page = self._context.new_page()
        self.troubles: list[str] = []
        self.responses: list[Response] = []
        self.page.on("console", self._on_console)
        self.page.on("pageerror", lambda error: self.troubles.append(str(error)))
        self.page.on("response", self._on_response)
        self.page.add_init_script(
            "document.addEventListener('securitypolicyviolation', (event) => "
            "console.error('CSP ' + event.violatedDirective + ' ' + event.blockedURI))"
        )

    @property
    def home(self) -> str:
        return f"{self._outputs.api_url}/"

    @property
    def token(self) -> str:
        return self._outputs.admin_token

    def sign_in(self, token: str | None = None, *, view: str = NO_VIEW) -> "Tab":
        self.page.goto(f"{self.home}{view}")
        self.page.get_by_label("Access token").fill(token or self.token)
        self.page.get_by_role("button", name="Sign in").click()
        self.page.locator("main[data-view]").wait_for()
        return self

    def show(self, installation: int, view: str, *, part: object = "", **query: object) -> "Tab":
        """Wait until nothing is loading any more."""
        path = "/".join(quote(str(each), safe="") for each in (installation, view, part) if each != "")
        search = "&".join(f"{name}={quote(str(value), safe='')}" for name, value in query.items())
        self.page.goto(f"{self.home}#/{path}?{search}")
        return self.settled()

    def settled(self) -> "Tab":
        # The page handles the change of an address in a task of its own, before this one.
        self.page.evaluate("new Promise((done) => setTimeout(done, 0))")
        expect(self.page.locator("main[data-view]")).to_have_count(1)
        expect(self.page.locator("[aria-busy=true]")).to_have_count(0)
        expect(self.page.locator(".later", has_text="…")).to_have_count(0)
        return self

    def fulfill(self, path: str, content: object, *, status: int = 200) -> "Tab":
        """Responds to requests for a path of the API, whatever their query."""
        return self.fulfill_by(path, lambda _: content, status=status)

    def fulfill_by(self, path: str, content: Callable[[dict[str, str]], object], *, status: int = 200) -> "Tab":
        """The content depends on the query."""

        def respond(route: Route) -> None:
            query = dict(parse_qsl(urlsplit(route.request.url).query))
            route.fulfill(status=status, json=content(query))

        self.page.route(re.compile(rf"/{re.escape(path)}(\?|$)"), respond)
        if path.startswith(f"installations/{CANNED}/"):
            self.page.route(re.compile(r"/v1/installations$"), self._list_canned)
        return self

    def _list_canned(self, route: Route) -> None:
        """The page shows only installations that are in the list."""
        response = route.fetch()
        listed = response.json()
        canned = {"installation_id": CANNED, "org_name": "o", "status": "active"}
        route.fulfill(response=response, json=listed | {"items": [*listed["items"], canned]})

    def problems(self, *tags: str) -> list[str]:
        """Violations of axe-core's rules, or of those with one of these tags."""
        violations = self.violations(*tags)
        return [f"{each['id']}: {json.dumps([node['target'] for node in each['nodes']][:3])}" for each in violations]

    def violations(self, *tags: str) -> list[dict[str, Any]]:
        """What axe-core reports about the page now. The debugger evaluates it, because no CSP stops the debugger."""
        if not self.page.evaluate("Boolean(window.axe)"):
            self.page.evaluate(AXE.read_text())
        options = {"resultTypes": ["violations"], **({"runOnly": list(tags)} if tags else {})}
        found: dict[str, Any] = self.page.evaluate("options => axe.run(document, options)", options)
        return list(found["violations"])

    def overflow(self) -> int:
        """The number of pixels by which the page is wider than the window."""
        return int(self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))

    def close(self) -> None:
        if self._is_alone:
            self._context.close()
        else:
            self.page.close()

    def _on_response(self, response: Response) -> None:
        self.responses.append(response)

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not REFUSED.match(message.text):
            self.troubles.append(message.text)
