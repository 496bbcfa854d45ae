from __future__ import annotations

from typing import TYPE_CHECKING

from runledger_cli import passes
from runledger_cli.options import add_command

if TYPE_CHECKING:
    from runledger_cli.options import Commands
    from runledger_cli.session import Session


def add_to(commands: Commands) -> None:
    parser = add_command(
        commands,
        "reconcile",
        run,
        summary="compare the ledger with GitHub and AWS now, and repair differences (operators only)",
        examples="runledger reconcile --wait\nrunledger reconcile --quick",
    )
    parser.add_argument("--quick", action="store_true", help="run a quick pass (default: full)")
    parser.add_argument("--wait", action="store_true", help="wait for the pass and print its result")


def run(session: Session) -> int:
    given = session.options
    wanted = {"pass": "quick" if given.quick else "full"}
    requested = session.api.post("admin", "reconciliation", "run", body=wanted)
    return passes.report(session, requested, wait=given.wait)
