"""From the command line to an exit code; the one place that knows the process it runs in."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from runledger_cli import __version__, connection, options
from runledger_cli.api import Api
from runledger_cli.commands import COMMANDS
from runledger_cli.errors import CommandError, Unreachable
from runledger_cli.rendering.look import Look
from runledger_cli.screen import Screen
from runledger_cli.session import Session

INTERRUPTED = 130
BROKEN_PIPE = 141
# A field is missing, or its value has another type. A traceback would help nobody who typed the command.
MALFORMED_ANSWER = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError)


def main(arguments: Sequence[str] | None = None) -> int:
    given = argparse.Namespace(**options.DEFAULTS | vars(parser().parse_args(arguments)))
    screen = _screen(given)
    try:
        code: int = given.run(_session(given, screen))
        sys.stdout.flush()
    except CommandError as error:
        screen.remark(f"runledger: {error}")
        return error.exit_code
    except MALFORMED_ANSWER as error:
        screen.remark(
            f"runledger: the API's answer isn't in the expected format ({error!r}); --json prints it as it is"
        )
        return Unreachable.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read has read enough; Python would complain once more when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    return code


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="runledger",
        description="Where is my GitHub Actions job, what happened to it, and what did it cost?",
        epilog="`runledger COMMAND --help` tells more, with examples. After `make up`, no option is needed here.",
        parents=[options.shared()],
    )
    top.add_argument("--version", action="version", version=f"runledger {__version__}")
    commands = top.add_subparsers(metavar="COMMAND", required=True, title="commands")
    for command in COMMANDS:
        command.add_to(commands)
    return top


def _session(given: argparse.Namespace, screen: Screen) -> Session:
    found = connection.find(
        api_url=given.api_url, token=given.token, environment=os.environ, folder=Path.cwd().resolve()
    )
    if found.discovered:
        screen.remark(f"runledger: using {found.api_url} from {found.discovered}")
    return Session(options=given, api=Api(found), screen=screen)


def _screen(given: argparse.Namespace) -> Screen:
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]  # a poor locale shall not end a command
    terminal = sys.stdout.isatty()
    look = Look(
        now=datetime.now(UTC),
        colour=terminal and not given.no_color and not os.environ.get("NO_COLOR"),
        width=shutil.get_terminal_size().columns if terminal else None,
        zone=UTC if given.utc else None,
    )
    return Screen(out=sys.stdout, remarks=sys.stderr, look=look, as_json=given.json)
