from __future__ import annotations

from typing import TYPE_CHECKING

from runledger_cli.options import add_command
from runledger_cli.rendering.installations import repositories_table

if TYPE_CHECKING:
    from runledger_cli.options import Commands
    from runledger_cli.session import Session

EXAMPLES = """\
runledger repositories
runledger repositories --since 7d"""


def add_to(commands: Commands) -> None:
    parser = add_command(
        commands, "repositories", show, summary="list repositories and their number of jobs", examples=EXAMPLES
    )
    parser.add_argument(
        "--since", metavar="WHEN", help="count jobs created since then: a time or an age (default: all)"
    )


def show(session: Session) -> int:
    screen, since = session.screen, session.instant(session.options.since)
    response = session.api.get(*session.path("repositories"), since=since)
    if screen.as_json:
        screen.document(response)
        return 0
    if response["items"]:
        screen.show(repositories_table(screen.style, response["items"]))
    else:
        screen.note("no repositories found")
    if response.get("truncated"):
        screen.note("there are too many jobs: only the newest are counted")
    return 0
