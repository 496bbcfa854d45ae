from __future__ import annotations

from typing import TYPE_CHECKING

from runledger_cli.options import add_command
from runledger_cli.rendering.jobs import stuck_table

if TYPE_CHECKING:
    from runledger_cli.options import Commands
    from runledger_cli.session import Session


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
    response = session.api.get(*session.path("stuck"))
    if screen.as_json:
        screen.document(response)
        return 0
    if not response["items"]:
        screen.note("no stuck jobs")
        return 0
    screen.show(stuck_table(screen.style, response["items"]))
    if response.get("truncated"):
        screen.note("more jobs are stuck: only the oldest are listed")
    return 0
