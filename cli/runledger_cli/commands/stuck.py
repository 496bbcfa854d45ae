from __future__ import annotations

from typing import TYPE_CHECKING

from runledger_cli.options import add_command
from runledger_cli.rendering import formatting
from runledger_cli.rendering.jobs import name
from runledger_cli.rendering.style import Tone
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
        summary="list jobs that are stuck, with advice",
        examples="runledger stuck\nrunledger stuck --json | jq -r '.items[].job.job_html_url'",
    )


def show(session: Session) -> int:
    screen = session.screen
    response = session.api.get("installations", session.installation(), "stuck")
    if screen.as_json:
        screen.document(response)
        return 0
    if not response["items"]:
        screen.note("no stuck jobs")
        return 0
    rows = [
        (
            each["job"]["job_id"],
            Cell(each["kind"], Tone.ALARM),
            formatting.duration(each["seconds"]),
            each["job"].get("repo_full_name"),
            name(each["job"]),
            each.get("advice"),
        )
        for each in response["items"]
    ]
    screen.show(table(screen.style, COLUMNS, rows))
    if response.get("truncated"):
        screen.note("more jobs are stuck: only the oldest are listed")
    return 0
