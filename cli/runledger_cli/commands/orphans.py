from __future__ import annotations

from typing import TYPE_CHECKING

from runledger_cli import passes
from runledger_cli.options import add_command
from runledger_cli.rendering.runners import orphans_table

if TYPE_CHECKING:
    from runledger_cli.options import Commands
    from runledger_cli.session import Session

# The statuses to list, and what to print if no runner has one.
NONE = {
    "suspected": "no suspected orphans",
    "cleaning": "no runner is being cleaned up",
    "contested": "no contested runners",
    "unknown_job": "no runner works on a job that isn't in the ledger",
}


def add_to(commands: Commands) -> None:
    parser = add_command(
        commands,
        "orphans",
        show,
        summary="list suspected orphaned runners, or clean one up",
        examples="runledger orphans --status unknown_job\nrunledger orphans clean i-0123456789abcdef0 --wait",
    )
    parser.add_argument(
        "--status",
        choices=tuple(NONE),
        default="suspected",
        metavar="STATUS",
        help=f"one of {', '.join(NONE)} (default: %(default)s)",
    )
    actions = parser.add_subparsers(metavar="ACTION", title="actions")
    cleaning = add_command(
        actions,
        "clean",
        clean,
        summary="terminate an orphaned runner and close its records (operators only)",
        examples="runledger orphans clean i-0123456789abcdef0",
    )
    cleaning.add_argument(
        "runner",
        metavar="ID",
        help="instance id or ECS task ARN, as listed by `orphans`, or the id of a job or run that has one orphan",
    )
    cleaning.add_argument("--yes", action="store_true", help="skip the confirmation")
    cleaning.add_argument("--wait", action="store_true", help="wait for the cleanup and print its result")


def show(session: Session) -> int:
    screen, status = session.screen, session.options.status
    response = session.api.get("admin", "orphans", status=status)
    if screen.as_json:
        screen.document(response)
    elif response["orphans"]:
        screen.show(orphans_table(screen.style, response["orphans"]))
    else:
        screen.note(NONE[status])
    return 0


def clean(session: Session) -> int:
    given = session.options
    if not given.yes:
        session.confirm("cleanup", _consequence(given.runner))
    requested = session.api.post("admin", "orphans", given.runner, "cleanup")
    return passes.report(session, requested, wait=given.wait)


def _consequence(runner: str) -> str:
    target = f"the orphaned runner of job or run {runner}" if runner.isdecimal() else runner
    return f"{target} and everything running on it will be terminated. Clean it up?"
