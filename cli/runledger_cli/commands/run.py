from __future__ import annotations

from typing import TYPE_CHECKING

from runledger_cli.errors import CommandError
from runledger_cli.options import add_command, number_or_url
from runledger_cli.rendering.jobs import jobs_table
from runledger_cli.rendering.run_details import run_details

if TYPE_CHECKING:
    from runledger_cli.options import Commands
    from runledger_cli.session import Session

EXAMPLES = """\
runledger run 7234567890
runledger run 7234567890 --attempt 1
runledger run 7234567890 --repo acme/api
runledger run https://github.com/acme/api/actions/runs/7234567890/attempts/2"""


def add_to(commands: Commands) -> None:
    parser = add_command(commands, "run", show, summary="show a run and its jobs", examples=EXAMPLES)
    parser.add_argument("run_wanted", type=number_or_url, metavar="ID|URL", help="run id, or its GitHub URL")
    parser.add_argument("--attempt", type=int, metavar="N", help="attempt of the run (default: the newest)")
    parser.add_argument("--repo", metavar="OWNER/NAME", help="look the run up on GitHub if the ledger doesn't have it")


def show(session: Session) -> int:
    screen, style = session.screen, session.screen.style
    installation, run_id, attempt = _find(session)
    response = session.api.get(
        "installations", installation, "runs", run_id, run_attempt=attempt, repo=session.options.repo
    )
    if screen.as_json:
        screen.document(response)
        return 0
    screen.show(run_details(style, response["run"], response["jobs"], response.get("attempts") or []))
    if response["jobs"]:
        screen.show(["", *jobs_table(style, response["jobs"])])
    return 0


def _find(session: Session) -> tuple[int, int, int | None]:
    wanted, attempt = session.options.run_wanted, session.options.attempt
    if isinstance(wanted, int):
        return session.installation(), wanted, attempt
    found = session.find(wanted)
    if not found.get("run_id"):
        raise CommandError("the ledger doesn't have the run of this job yet")
    return found["installation_id"], found["run_id"], attempt or found.get("run_attempt")
