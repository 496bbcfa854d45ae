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
        does="tell how a repository or all of an installation is doing: success, waiting, duration, spend",
        examples=EXAMPLES,
    )
    parser.add_argument("--repo", metavar="OWNER/NAME", help="one repository (default: all)")
    add_span(parser)
    parser.add_argument("--series", action="store_true", help="also by the hour or day")


def show(session: Session) -> int:
    given, screen, look = session.options, session.screen, session.screen.look
    installation = session.installation()
    answer = session.api.get(
        "installations",
        installation,
        "statistics",
        repo=given.repo,
        since=session.instant(given.since),
        until=session.instant(given.until),
    )
    if screen.as_json:
        screen.document(answer)
        return 0
    screen.show(statistics(look, answer, of=given.repo or f"installation {installation}"))
    if given.series and answer.get("series"):
        screen.show(["", *series(look, answer["series"])])
    return 0
