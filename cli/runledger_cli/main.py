"""Entry point: parses the command line, runs the command, and returns its exit code."""

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
from runledger_cli.errors import CommandError, Unreachable, UsageError
from runledger_cli.rendering.style import Style
from runledger_cli.screen import Screen
from runledger_cli.session import Session

INTERRUPTED = 130
BROKEN_PIPE = 141
# A field is missing or has an unexpected type; the user gets a message instead of a traceback.
MALFORMED_RESPONSE = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError)


def main(arguments: Sequence[str] | None = None) -> int:
    if not (sys.argv[1:] if arguments is None else arguments):
        parser().print_help(sys.stderr)
        return UsageError.exit_code
    given = argparse.Namespace(**options.DEFAULTS | vars(parser().parse_args(arguments)))
    screen = _screen(given)
    session = _session(given, screen)
    try:
        code: int = given.run(session)
        sys.stdout.flush()
    except CommandError as error:
        screen.note(f"runledger: {error}")
        return error.exit_code
    except MALFORMED_RESPONSE as error:
        if not session.has_response:
            raise  # a bug, or an error of AWS: it must not be reported as one of the API
        screen.note(f"runledger: the API's response has an unexpected format ({error!r}): use --json to see it")
        return Unreachable.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader closed the pipe, as `head` does. Without this, Python reports the error again when it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    return code


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="runledger",
        description="Where is my GitHub Actions job, what happened to it, and what did it cost?",
        epilog="Run `runledger COMMAND --help` for details and examples. "
        "After `make up` or `make run`, you need neither a URL nor a token.",
        parents=[options.shared()],
    )
    top.add_argument("--version", action="version", version=f"runledger {__version__}")
    commands = top.add_subparsers(metavar="COMMAND", required=True, title="commands")
    for command in COMMANDS:
        command.add_to(commands)
    return top


def _session(given: argparse.Namespace, screen: Screen) -> Session:
    def connect() -> Api:
        found = connection.find(
            api_url=given.api_url, token=given.token, environment=os.environ, folder=Path.cwd().resolve()
        )
        if found.discovered:
            screen.note(f"runledger: using {found.api_url} from {found.discovered}")
        return Api(found)

    return Session(options=given, connect=connect, screen=screen)


def _screen(given: argparse.Namespace) -> Screen:
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]  # a limited locale must not end the command
    terminal = sys.stdout.isatty()
    style = Style(
        now=datetime.now(UTC),
        colour=terminal and not given.no_color and not os.environ.get("NO_COLOR"),
        width=shutil.get_terminal_size().columns if terminal else None,
        zone=UTC if given.utc else None,
    )
    return Screen(out=sys.stdout, notes=sys.stderr, style=style, as_json=given.json)
