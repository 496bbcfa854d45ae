"""Runs commands of the CLI against the API's handler, and reads the numbers that they print."""

import io
import re
from argparse import Namespace
from dataclasses import dataclass, replace
from typing import Any

from runledger_cli import options
from runledger_cli.api import Api
from runledger_cli.connection import Connection
from runledger_cli.main import parser
from runledger_cli.rendering.style import Style
from runledger_cli.screen import Screen
from runledger_cli.session import Session

from tests.api.client import Client
from tests.figures.month import NOW
from tests.support.webhooks import INSTALLATION

GAP = re.compile(r"\s{2,}")


class _HandlerApi(Api):
    """The CLI's client, without a network between it and the handler."""

    def __init__(self, client: Client) -> None:
        super().__init__(Connection(api_url="", token="", discovered=None))
        self._client = replace(client, now_ms=int(NOW.timestamp()) * 1000)

    def _call(
        self, method: str, path: tuple[object, ...], query: dict[str, Any], body: bytes | None = None
    ) -> dict[str, Any]:
        more = {} if body is None else {"body": body.decode()}
        response = self._client.request(method, self._request_url(path, {}), query=query, **more)
        assert response.status in (200, 201, 202), response.body
        found: dict[str, Any] = response.body
        return found


@dataclass(frozen=True)
class Printed:
    lines: list[str]

    def facts(self) -> dict[str, str]:
        """Pairs of a name and a value."""
        pairs = [GAP.split(line.strip(), maxsplit=1) for line in self.lines if line.startswith("  ")]
        return {pair[0]: pair[1] for pair in pairs if len(pair) == 2}

    def table(self, first_column: str) -> list[dict[str, str]]:
        """Values are separated by two spaces or more, and none is empty."""
        start = next((at for at, line in enumerate(self.lines) if line.split()[:1] == [first_column]), None)
        if start is None:
            start = next((at for at, line in enumerate(self.lines) if line.strip().startswith(first_column)), None)
        if start is None:
            return []
        titles = GAP.split(self.lines[start].strip())
        end = next((at for at in range(start, len(self.lines)) if not self.lines[at].strip()), len(self.lines))
        return [dict(zip(titles, GAP.split(line.strip()), strict=True)) for line in self.lines[start + 1 : end]]


def run(api: Client, *arguments: str) -> Printed:
    """Run a command in UTC, at the end of the month."""
    given = Namespace(**options.DEFAULTS | vars(parser().parse_args(["--installation", str(INSTALLATION), *arguments])))
    out = io.StringIO()
    screen = Screen(out=out, notes=io.StringIO(), style=Style(now=NOW, zone=NOW.tzinfo))
    client = _HandlerApi(api)
    assert given.run(Session(options=given, connect=lambda: client, screen=screen)) == 0
    return Printed(out.getvalue().splitlines())
