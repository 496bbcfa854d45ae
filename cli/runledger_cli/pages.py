"""Paginated lists of an installation: their options, their pages, and how to continue after a page."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable
from typing import TYPE_CHECKING

from runledger_cli.api import LARGEST_PAGE

if TYPE_CHECKING:
    from runledger_cli.api import Json
    from runledger_cli.rendering.style import Style
    from runledger_cli.session import Session


def add_pages(parser: argparse.ArgumentParser) -> None:
    pages = parser.add_mutually_exclusive_group()
    pages.add_argument("--all", action="store_true", help="fetch all pages")
    pages.add_argument("--limit", type=int, metavar="N", help=f"page size (default: 50, maximum: {LARGEST_PAGE})")
    parser.add_argument("--cursor", help="continue after an earlier page")


def read_pages(session: Session, *path: object, **query: object) -> Json:
    given = session.options
    fetch = session.api.get_all if given.all else session.api.get
    limit = LARGEST_PAGE if given.all else given.limit
    return fetch(*session.path(*path), **query, limit=limit, cursor=given.cursor)


def show_pages(
    session: Session, response: Json, table: Callable[[Style, list[Json]], list[str]], *, what: str, hint: str = ""
) -> int:
    """Prints the items as a table. `what` names them, and `hint` follows the note that there are none."""
    screen = session.screen
    if screen.as_json:
        screen.document(response)
        return 0
    if response["items"]:
        screen.show(table(screen.style, response["items"]))
    else:
        screen.note(f"no {what} found{hint}")
    if response.get("next_cursor"):
        cursor = shlex.quote(str(response["next_cursor"]))  # users paste it into a shell
        screen.note(f"more {what} available: use --all for all of them, or --cursor {cursor} for the next page")
    return 0
