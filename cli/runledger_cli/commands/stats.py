from __future__ import annotations

from typing import TYPE_CHECKING

from runledger_cli.options import add_command, add_span
from runledger_cli.rendering.statistics import series, statistics

if TYPE_CHECKING:
    from runledger_cli.options import Commands
    from runledger_cli.session import Session

EXAMPLES = """\
runledger stats --since 24h
runledger stats --repo acme/api --since 7d --series"""


def add_to(commands: Commands) -> None:
    parser = add_command(
        commands,
        "stats",
        show,
        summary="show statistics: success rate, queue time, duration and spend",
        examples=EXAMPLES,
    )
    parser.add_argument("--repo", metavar="OWNER/NAME", help="repository (default: all)")
    add_span(parser, begin="7d")
    parser.add_argument("--series", action="store_true", help="also show values per hour or day")


def show(session: Session) -> int:
    given, screen, style = session.options, session.screen, session.screen.style
    installation = session.installation()
    response = session.api.get(
        "installations",
        installation,
        "statistics",
        repo=given.repo,
        since=session.instant(given.since),
        until=session.instant(given.until),
    )
    if screen.as_json:
        screen.document(response)
        return 0
    screen.show(statistics(style, response, of=given.repo or f"installation {installation}"))
    if given.series and response.get("series"):
        screen.show(["", *series(style, response["series"])])
    return 0
