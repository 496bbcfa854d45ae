from __future__ import annotations

from typing import TYPE_CHECKING

from runledger_cli.options import add_command
from runledger_cli.rendering import words
from runledger_cli.rendering.jobs import name
from runledger_cli.rendering.look import Tone
from runledger_cli.rendering.tables import Cell, Column, table

if TYPE_CHECKING:
    from runledger_cli.options import Commands
    from runledger_cli.session import Session

COLUMNS = (
    Column(title="JOB", right=True),
    Column(title="STUCK IN"),
    Column(title="FOR", right=True),
    Column(title="REPOSITORY", shrinks=True),
    Column(title="NAME", shrinks=True),
    Column(title="ADVICE", flows=True),
)


def add_to(commands: Commands) -> None:
    add_command(
        commands,
        "stuck",
        show,
        does="list the jobs that have been where they are for too long, and what to do",
        examples="runledger stuck\nrunledger stuck --json | jq -r '.items[].job.job_html_url'",
    )


def show(session: Session) -> int:
    screen = session.screen
    answer = session.api.get("installations", session.installation(), "stuck")
    if screen.as_json:
        screen.document(answer)
        return 0
    if not answer["items"]:
        screen.remark("nothing is stuck")
        return 0
    rows = [
        (
            each["job"]["job_id"],
            Cell(each["kind"], Tone.ALARM),
            words.duration(each["seconds"]),
            each["job"].get("repo_full_name"),
            name(each["job"]),
            each.get("advice"),
        )
        for each in answer["items"]
    ]
    screen.show(table(screen.look, COLUMNS, rows))
    return 0
