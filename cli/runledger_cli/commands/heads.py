from __future__ import annotations

from typing import TYPE_CHECKING

from runledger_cli.options import add_command
from runledger_cli.pages import add_pages, read_pages, show_pages
from runledger_cli.rendering.heads import heads_table

if TYPE_CHECKING:
    from runledger_cli.options import Commands
    from runledger_cli.session import Session

EXAMPLES = """\
runledger heads
runledger heads --repo acme/api --all-branches
runledger heads --repo acme/api --branch release/2"""


def add_to(commands: Commands) -> None:
    parser = add_command(
        commands,
        "heads",
        show,
        summary="list the workflows of default branches: green or red, and since when",
        examples=EXAMPLES,
    )
    parser.add_argument("--repo", metavar="OWNER/NAME", help="repository (default: all)")
    branches = parser.add_mutually_exclusive_group()
    branches.add_argument("--branch", help="only this branch; requires --repo")
    branches.add_argument("--all-branches", action="store_true", help="all branches; requires --repo")
    add_pages(parser)


def show(session: Session) -> int:
    given = session.options
    response = read_pages(
        session,
        "heads",
        repo=given.repo,
        branch=given.branch,
        all_branches="true" if given.all_branches else None,
    )
    hint = ": one appears with the first run on a branch"
    return show_pages(session, response, heads_table, what="heads", hint=hint)
