from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from runledger_cli import passes
from runledger_cli.errors import CommandError, Misuse
from runledger_cli.options import add_command
from runledger_cli.rendering.look import tone_of
from runledger_cli.rendering.tables import Cell, Column, table

if TYPE_CHECKING:
    from runledger_cli.options import Commands
    from runledger_cli.session import Session

COLUMNS = (
    *(Column(title=each) for each in ("RUNNER", "KIND", "STATUS", "DETECTED", "DUE", "POOL", "JOB")),
    Column(title="REASON", flows=True),
)


def add_to(commands: Commands) -> None:
    parser = add_command(
        commands,
        "orphans",
        show,
        does="list the runners that seem to work for nobody, or clean one up (operators only)",
        examples="runledger orphans\nrunledger orphans clean i-0123456789abcdef0 --wait",
    )
    actions = parser.add_subparsers(metavar="ACTION", title="actions")
    cleaning = add_command(
        actions,
        "clean",
        clean,
        does="terminate an orphaned runner and close its books, exactly once",
        examples="runledger orphans clean i-0123456789abcdef0",
    )
    cleaning.add_argument("runner", metavar="ID", help="an instance's id or an ECS task's ARN, as `orphans` lists it")
    cleaning.add_argument("--yes", action="store_true", help="do not ask")
    cleaning.add_argument("--wait", action="store_true", help="wait until it is over and say what was done")


def show(session: Session) -> int:
    screen, look = session.screen, session.screen.look
    answer = session.api.get("admin", "orphans", status="suspected")
    if screen.as_json:
        screen.document(answer)
        return 0
    if not answer["orphans"]:
        screen.remark("no runner is suspected")
        return 0
    rows = [
        (
            each["runner_id"],
            each.get("kind"),
            Cell(each.get("status"), tone_of(each.get("status"))),
            look.time(each.get("detected_at")),
            look.time(each.get("due_at")),
            each.get("pool_name"),
            each.get("job_id"),
            each.get("reason"),
        )
        for each in answer["orphans"]
    ]
    screen.show(table(look, COLUMNS, rows))
    return 0


def clean(session: Session) -> int:
    given = session.options
    if not given.yes:
        _confirm(session, given.runner)
    requested = session.api.post("admin", "orphans", given.runner, "cleanup")
    return passes.conclude(session, requested, wait=given.wait)


def _confirm(session: Session, runner: str) -> None:
    if not sys.stdin.isatty():
        raise Misuse("a runner is only cleaned up when somebody agrees: add --yes where nobody can be asked")
    session.screen.remark(f"{runner} will be terminated, whatever runs on it. Clean it up? [y/N]")
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise CommandError("nothing was done")
