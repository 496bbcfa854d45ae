from __future__ import annotations

from typing import TYPE_CHECKING

from runledger_cli.options import add_command, add_span
from runledger_cli.rendering.heads import dora_table

if TYPE_CHECKING:
    from runledger_cli.options import Commands
    from runledger_cli.session import Session

EXAMPLES = """\
runledger dora
runledger dora --since 90d --environment staging --json"""


def add_to(commands: Commands) -> None:
    parser = add_command(
        commands,
        "dora",
        show,
        summary="show deployment frequency, lead time, change failure rate and time to restore",
        examples=EXAMPLES,
    )
    parser.add_argument("--repo", metavar="OWNER/NAME", help="repository (default: all)")
    parser.add_argument("--environment", metavar="NAME", help="environment (default: production environments)")
    add_span(parser, begin="30d")


def show(session: Session) -> int:
    given, screen = session.options, session.screen
    response = session.api.get(
        *session.path("dora"),
        repo=given.repo,
        environment=given.environment,
        since=session.instant(given.since),
        until=session.instant(given.until),
    )
    if screen.as_json:
        screen.document(response)
        return 0
    if response["items"]:
        screen.show(dora_table(screen.style, response))
    else:
        screen.note(_nothing_found(given.environment))
    if response.get("truncated"):
        screen.note(
            "some environments are missing, because there are too many deployments: choose a repository with --repo"
        )
    return 0


def _nothing_found(environment: str | None) -> str:
    if environment:
        return f"no environment {environment} found: `runledger environments` lists all"
    return "no production environment found: choose another one with --environment"
