from __future__ import annotations

from typing import TYPE_CHECKING

from runledger_cli.options import add_command
from runledger_cli.rendering.style import tone_of
from runledger_cli.rendering.tables import Cell, Column, table

if TYPE_CHECKING:
    from runledger_cli.options import Commands
    from runledger_cli.session import Session

COLUMNS = [
    Column(title="INSTALLATION", right=True),
    *(Column(title=each) for each in ("ORGANISATION", "STATUS", "FIRST SEEN")),
]


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
        return 0
    rows = [
        (
            each["installation_id"],
            each.get("org_name"),
            Cell(each.get("status"), tone_of(each.get("status"))),
            screen.style.time(each.get("first_seen_at")),
        )
        for each in response["items"]
    ]
    screen.show(table(screen.style, COLUMNS, rows))
    return 0
