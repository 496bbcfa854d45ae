"""Options that every command takes, before or after its name, and the frame of each command's help."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING

from runledger_cli.connection import TOKEN_VARIABLE, URL_VARIABLE

if TYPE_CHECKING:
    from runledger_cli.session import Session

    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

DEFAULTS = {
    **dict.fromkeys(("api_url", "token", "installation")),
    **dict.fromkeys(("json", "no_color", "utc"), False),
}


def shared() -> argparse.ArgumentParser:
    """Without defaults, so that a command's parser does not undo what was given before the command."""
    parser = argparse.ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    group = parser.add_argument_group("options of every command")
    group.add_argument(
        "--api-url", metavar="URL", help=f"where the API is (or {URL_VARIABLE}; else a local deployment)"
    )
    group.add_argument("--token", help=f"the token to ask with (better: {TOKEN_VARIABLE})")
    group.add_argument("--installation", type=int, metavar="ID", help="whose jobs (default: the only one there is)")
    group.add_argument("--json", action="store_true", help="print the API's answer as one JSON document")
    group.add_argument("--no-color", action="store_true", help="no colours on a terminal (or NO_COLOR)")
    group.add_argument("--utc", action="store_true", help="times in UTC (default: in local time)")
    return parser


def add_command(
    commands: Commands, name: str, run: Callable[[Session], int], *, does: str, examples: str
) -> argparse.ArgumentParser:
    parser = commands.add_parser(
        name,
        help=does,
        description=f"{does[0].upper()}{does[1:]}.",
        epilog="examples:\n" + "\n".join(f"  {line}" for line in examples.splitlines()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        parents=[shared()],
    )
    parser.set_defaults(run=run)
    return parser


def add_span(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--since", metavar="WHEN", help="an instant (2025-01-15T10:00) or an age (30m, 24h, 7d)")
    parser.add_argument("--until", metavar="WHEN", help="an instant or an age (default: now)")


def number_or_url(text: str) -> int | str:
    """Of a job or run: people have one or the other at hand."""
    if text.isdecimal():
        return int(text)
    if "/" in text:
        return text
    raise argparse.ArgumentTypeError(f"{text!r} is neither an id nor an address of GitHub")
