from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runledger_cli.api import LARGEST_PAGE
from runledger_cli.errors import CommandError
from runledger_cli.options import add_command, number_or_url
from runledger_cli.rendering.history import history
from runledger_cli.rendering.job_details import job_details
from runledger_cli.rendering.style import Tone
from runledger_cli.rendering.timeline import timeline

if TYPE_CHECKING:
    from runledger_cli.options import Commands
    from runledger_cli.session import Session

EXAMPLES = """\
runledger job 41234567890
runledger job https://github.com/acme/api/actions/runs/7234567890/job/41234567890"""


def add_to(commands: Commands) -> None:
    parser = add_command(
        commands,
        "job",
        show,
        summary="show a job: its timeline, history, runner and cost",
        examples=EXAMPLES,
    )
    parser.add_argument("job", type=number_or_url, metavar="ID|URL", help="job id, or its GitHub URL")


def show(session: Session) -> int:
    screen, style = session.screen, session.screen.style
    installation, job = _find(session, session.options.job)
    path = ("installations", installation, "jobs", job["job_id"], "events")
    events = session.api.get_all(*path, order="oldest", limit=LARGEST_PAGE)
    if screen.as_json:
        screen.document({"job": job, "events": events})
        return 0
    screen.show([*job_details(style, job), "", *timeline(style, job, events["items"])])
    if events["items"]:
        screen.show(["", style.paint("History", Tone.STRONG), *history(style, events["items"])])
    else:
        screen.note("the history has expired")
    return 0


def _find(session: Session, wanted: int | str) -> tuple[int, dict[str, Any]]:
    if isinstance(wanted, int):
        installation = session.installation()
        return installation, session.api.get("installations", installation, "jobs", wanted)
    found = session.find(wanted)
    if not found.get("job"):
        raise CommandError("this is the URL of a run: use `runledger run` to show it")
    return found["installation_id"], found["job"]
