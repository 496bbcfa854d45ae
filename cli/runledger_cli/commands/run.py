from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runledger_cli.errors import CommandError
from runledger_cli.options import add_command, number_or_url
from runledger_cli.rendering import formatting
from runledger_cli.rendering.jobs import COMPLETED, jobs_table, status
from runledger_cli.rendering.style import Style, Tone
from runledger_cli.rendering.tables import pairs

if TYPE_CHECKING:
    from runledger_cli.options import Commands
    from runledger_cli.session import Session

Job = dict[str, Any]
FAILURES = ("failure", "timed_out", "startup_failure")
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
    screen.show(_description(style, response["run"], response["jobs"], response.get("attempts") or []))
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


def _description(style: Style, run: Job, jobs: list[Job], attempts: list[int]) -> list[str]:
    others = ", ".join(str(each) for each in attempts if each != run.get("run_attempt"))
    facts = [
        ("status", status(run)),
        ("run", f"{run['run_id']}, attempt {run.get('run_attempt', 1)}" + (f" (others: {others})" if others else "")),
        ("workflow", run.get("workflow_id")),
        ("repository", run.get("repo_full_name")),
        ("branch", run.get("head_branch")),
        ("created", style.time(run.get("created_at"))),
        ("jobs", _counts(run, [job for job in jobs if job.get("carried_over")])),
        ("re-run", run.get("rerun_result")),
        ("page", run.get("run_html_url")),
    ]
    return [style.paint(formatting.printable(run.get("workflow_name") or "run"), Tone.STRONG), *pairs(style, facts)]


def _counts(run: Job, carried_over: list[Job]) -> str:
    """The run's counters include the jobs that a re-run carried over."""
    copied = {
        "total_jobs": len(carried_over),
        "completed_jobs": sum(job.get("status") == COMPLETED for job in carried_over),
        "failed_jobs": sum(job.get("conclusion") in FAILURES for job in carried_over),
    }
    total, completed, failed = (max(0, run.get(name, 0) - number) for name, number in copied.items())
    text = f"{total}: {completed} completed, {failed} failed"
    return f"{text} ({len(carried_over)} more carried over)" if carried_over else text
