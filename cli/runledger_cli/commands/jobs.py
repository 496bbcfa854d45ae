from __future__ import annotations

from typing import TYPE_CHECKING

from runledger_cli.errors import UsageError
from runledger_cli.options import add_command, add_span
from runledger_cli.pages import add_pages, read_pages, show_pages
from runledger_cli.rendering.jobs import jobs_table

if TYPE_CHECKING:
    from runledger_cli.options import Commands
    from runledger_cli.session import Session

STATUSES = ("queued", "waiting", "scheduled", "in_progress", "completed")
FILTERS = ("status", "repo", "run_id", "run_attempt", "conclusion", "order")
EXAMPLES = """\
runledger jobs --status in_progress
runledger jobs --repo acme/api --conclusion failure --completed --since 24h
runledger jobs --repo acme/api --since 24h --all
runledger jobs --run-id 7234567890 --run-attempt 2
runledger jobs --status completed --since 7d --all --json | jq '.items[].usage_in_dollars'"""


def add_to(commands: Commands) -> None:
    parser = add_command(
        commands, "jobs", show, summary="list jobs by status, repository or run, newest first", examples=EXAMPLES
    )
    parser.add_argument("--status", choices=STATUSES, metavar="STATUS", help=f"one of {', '.join(STATUSES)}")
    parser.add_argument("--repo", metavar="OWNER/NAME", help="jobs of this repository")
    parser.add_argument("--run-id", type=int, metavar="ID", help="jobs of this run")
    parser.add_argument("--conclusion", metavar="RESULT", help="jobs with this conclusion, such as success or failure")
    parser.add_argument(
        "--completed",
        action="store_true",
        help="--since and --until filter by completion time (default: creation time)",
    )
    parser.add_argument(
        "--run-attempt", type=int, metavar="N", help="attempt of the run; requires --run-id (default: the newest)"
    )
    add_span(parser, begin="all")
    parser.add_argument("--order", choices=("newest", "oldest"), help="sort order (default: newest)")
    add_pages(parser)


def show(session: Session) -> int:
    given = session.options
    if given.run_attempt is not None and given.run_id is None:
        raise UsageError("--run-attempt requires --run-id")
    if given.status is None and given.repo is None and given.run_id is None:
        raise UsageError("pass at least one of --status, --repo and --run-id")
    response = read_pages(
        session,
        "jobs",
        **{name: getattr(given, name) for name in FILTERS},
        range_of="completed" if given.completed else None,
        since=session.instant(given.since),
        until=session.instant(given.until),
    )
    return show_pages(session, response, jobs_table, what="jobs")
