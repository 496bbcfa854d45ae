from __future__ import annotations

from typing import TYPE_CHECKING

from runledger_cli.options import add_command
from runledger_cli.rendering.installations import installations_table

if TYPE_CHECKING:
    from runledger_cli.options import Commands
    from runledger_cli.session import Session


def add_to(commands: Commands) -> None:
    add_command(
        commands,
        "installations",
        show,
        summary="list the installations that the token has access to",
        examples="runledger installations\nrunledger installations --json",
    )


def show(session: Session) -> int:
    screen, response = session.screen, session.api.get("installations")
    if screen.as_json:
        screen.document(response)
    else:
        screen.show(installations_table(screen.style, response["items"]))
    return 0
