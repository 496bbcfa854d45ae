from __future__ import annotations

from typing import TYPE_CHECKING

from runledger_cli.options import add_command
from runledger_cli.pages import add_pages, read_pages, show_pages
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
    response = read_pages(session, "environments", repo=session.options.repo)
    hint = ": one appears with its first deployment"
    return show_pages(session, response, environments_table, what="environments", hint=hint)
