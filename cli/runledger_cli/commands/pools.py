from __future__ import annotations

from typing import TYPE_CHECKING

from runledger_cli.options import add_command, add_span
from runledger_cli.rendering.statistics import pools

if TYPE_CHECKING:
    from runledger_cli.options import Commands
    from runledger_cli.session import Session

EXAMPLES = """\
runledger pools
runledger pools --since 7d"""


def add_to(commands: Commands) -> None:
    parser = add_command(
        commands, "pools", show, summary="list runner pools: their jobs, runners and spend", examples=EXAMPLES
    )
    add_span(parser, begin="24h")


def show(session: Session) -> int:
    given, screen = session.options, session.screen
    span = {"since": session.instant(given.since), "until": session.instant(given.until)}
    response = session.api.get(*session.path("pools"), **span)
    if screen.as_json:
        screen.document(response)
        return 0
    if response["items"]:
        screen.show(pools(screen.style, response["items"]))
    else:
        screen.note("no pools found")
    if response.get("truncated"):
        screen.note("the range has too many jobs: only the newest are counted")
    return 0
