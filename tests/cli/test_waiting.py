"""`--wait` polls until the pass has ended, for a limited time."""

import io
from argparse import Namespace
from datetime import UTC, datetime

import pytest
from runledger_cli import passes
from runledger_cli.api import Api
from runledger_cli.connection import Connection
from runledger_cli.errors import CommandError
from runledger_cli.rendering.style import Style
from runledger_cli.screen import Screen
from runledger_cli.session import Session

from tests.cli.canned_api import TOKEN, CannedApi
from tests.cli.responses import PASS

ROUTE = f"GET admin/reconciliation/{PASS}"


def session(api: CannedApi, waited: list[float]) -> Session:
    """One whose waiting takes no time."""
    return Session(
        options=Namespace(),
        connect=lambda: Api(Connection(api_url=api.url, token=TOKEN)),
        screen=Screen(out=io.StringIO(), notes=io.StringIO(), style=Style(now=datetime(2025, 1, 15, tzinfo=UTC))),
        pause=waited.append,
    )


def test_wait_polls_until_the_pass_has_ended(api: CannedApi) -> None:
    api.respond(ROUTE, *({"id": PASS, "status": status} for status in ("requested", "running", "running", "finished")))
    waited: list[float] = []
    assert passes.report(session(api, waited), {"id": PASS}, wait=True) == 0
    assert waited == [passes.POLL_SECONDS] * 3


def test_wait_gives_up_on_a_pass_that_never_runs(api: CannedApi) -> None:
    api.respond(ROUTE, {"id": PASS, "status": "requested"})
    waited: list[float] = []
    with pytest.raises(CommandError, match="still requested after 16 minutes"):
        passes.report(session(api, waited), {"id": PASS}, wait=True)
    assert sum(waited) == passes.MAX_WAIT_SECONDS
