from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runledger_cli.api import LARGEST_PAGE
from runledger_cli.errors import CommandError
from runledger_cli.options import add_command, number_or_url
from runledger_cli.rendering.history import history
from runledger_cli.rendering.look import Tone
from runledger_cli.rendering.portrait import portrait
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
        does="tell a job's life: its steps, its whole history, its runner and its cost",
        examples=EXAMPLES,
    )
    parser.add_argument("job", type=number_or_url, metavar="ID|URL", help="the job's id, or its page on GitHub")


def show(session: Session) -> int:
    screen, look = session.screen, session.screen.look
    installation, job = _find(session, session.options.job)
    path = ("installations", installation, "jobs", job["job_id"], "events")
    events = session.api.everything(*path, order="oldest", limit=LARGEST_PAGE)
    if screen.as_json:
        screen.document({"job": job, "events": events})
        return 0
    screen.show([*portrait(look, job), "", *timeline(look, job, events["items"])])
    if events["items"]:
        screen.show(["", look.paint("History", Tone.STRONG), *history(look, events["items"])])
    else:
        screen.remark("its history is gone: it is kept for 14 days")
    return 0


def _find(session: Session, wanted: int | str) -> tuple[int, dict[str, Any]]:
    if isinstance(wanted, int):
        installation = session.installation()
        return installation, session.api.get("installations", installation, "jobs", wanted)
    found = session.find(wanted)
    if not found.get("job"):
        raise CommandError("that is the page of a run: `runledger run` shows it with its jobs")
    return found["installation_id"], found["job"]
