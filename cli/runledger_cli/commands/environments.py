from __future__ import annotations

from typing import TYPE_CHECKING

from runledger_cli.options import add_command
from runledger_cli.pages import add_pages, read_pages, show_cursor
from runledger_cli.rendering.heads import environments_table

if TYPE_CHECKING:
    from runledger_cli.options import Commands
    from runledger_cli.session import Session

EXAMPLES = """\
runledger environments
runledger environments --repo acme/api"""


def add_to(commands: Commands) -> None:
    parser = add_command(
        commands,
        "environments",
        show,
        summary="list environments: what is deployed, since when, and what it can be rolled back to",
        examples=EXAMPLES,
    )
    parser.add_argument("--repo", metavar="OWNER/NAME", help="repository (default: all)")
    add_pages(parser)


def show(session: Session) -> int:
    screen = session.screen
    response = read_pages(session, "environments", repo=session.options.repo)
    if screen.as_json:
        screen.document(response)
        return 0
    if response["items"]:
        screen.show(environments_table(screen.style, response["items"]))
    else:
        screen.note("no environments found: one appears with its first deployment")
    show_cursor(session, response, "environments")
    return 0
