"""Options that all commands share, before or after the command's name, and the format of their help."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING

from runledger_cli.connection import TOKEN_VARIABLE, URL_VARIABLE

if TYPE_CHECKING:
    from runledger_cli.session import Session

    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

STDIN = "-"  # as the name of a file, or instead of a text
DEFAULTS = {
    **dict.fromkeys(("api_url", "token", "installation")),
    **dict.fromkeys(("json", "no_color", "utc"), False),
}


def shared() -> argparse.ArgumentParser:
    """Has no defaults: those of the subcommand would override options that precede it."""
    parser = argparse.ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    group = parser.add_argument_group("global options")
    group.add_argument(
        "--api-url", metavar="URL", help=f"URL of the API (or {URL_VARIABLE}; default: a local deployment)"
    )
    group.add_argument("--token", help=f"access token (prefer {TOKEN_VARIABLE})")
    group.add_argument(
        "--installation",
        type=int,
        metavar="ID",
        help="installation to query (required if the token has access to several)",
    )
    group.add_argument("--json", action="store_true", help="print the API's response as JSON")
    group.add_argument("--no-color", action="store_true", help="disable colours (or NO_COLOR)")
    group.add_argument("--utc", action="store_true", help="show times in UTC (default: local time)")
    return parser


def add_command(
    commands: Commands, name: str, run: Callable[[Session], int] | None, *, summary: str, examples: str
) -> argparse.ArgumentParser:
    """`run` is None for a command that only groups actions: then argparse requires one of them."""
    parser = commands.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.",
        epilog="examples:\n" + "\n".join(f"  {line}" for line in examples.splitlines()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        parents=[shared()],
    )
    if run is not None:
        parser.set_defaults(run=run)
    return parser


def add_span(parser: argparse.ArgumentParser, *, begin: str) -> None:
    """`begin` is what the API uses without `--since`."""
    start = f"start: a time (2025-01-15T10:00) or an age (30m, 24h, 7d; default: {begin})"
    parser.add_argument("--since", metavar="WHEN", help=start)
    parser.add_argument("--until", metavar="WHEN", help="end: a time or an age (default: now)")


def number_or_url(text: str) -> int | str:
    """The id or the GitHub URL of a job or run."""
    if text.isdecimal():
        return int(text)
    if "/" in text:
        return text
    raise argparse.ArgumentTypeError(f"{text!r} is neither an id nor a GitHub URL")
