from __future__ import annotations

from typing import TYPE_CHECKING

from runledger_cli.options import add_command
from runledger_cli.rendering.look import tone_of
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
        does="list the installations that the token may see",
        examples="runledger installations\nrunledger installations --json",
    )


def show(session: Session) -> int:
    screen, answer = session.screen, session.api.get("installations")
    if screen.as_json:
        screen.document(answer)
        return 0
    rows = [
        (
            each["installation_id"],
            each.get("org_name"),
            Cell(each.get("status"), tone_of(each.get("status"))),
            screen.look.time(each.get("first_seen_at")),
        )
        for each in answer["items"]
    ]
    screen.show(table(screen.look, COLUMNS, rows))
    return 0
