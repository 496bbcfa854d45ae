from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from runledger_cli.api import LARGEST_PAGE
from runledger_cli.errors import ApiError, CommandError, Unreachable
from runledger_cli.options import add_command
from runledger_cli.rendering.feed import feed_line
from runledger_cli.rendering.history import event_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from runledger_cli.api import Json
    from runledger_cli.options import Commands
    from runledger_cli.rendering.style import Style
    from runledger_cli.session import Session

MAX_INTERVAL_SECONDS = 86_400
NOT_FOUND = 404
TRANSIENT_STATUSES = (429, 500, 502, 503, 504)


def add_to(commands: Commands) -> None:
    parser = add_command(
        commands,
        "tail",
        follow,
        summary="follow new events of an installation until Ctrl-C",
        examples="runledger tail\nrunledger tail --since 1h --json | jq -c 'select(.duplicate)'",
    )
    parser.add_argument("--since", metavar="WHEN", default="1m", help="start: a time or an age (default: 1m)")
    parser.add_argument(
        "--interval", type=_interval, metavar="SECONDS", default=2.0, help="polling interval (default: 2)"
    )
    parser.add_argument("--history", action="store_true", help="show job history events instead of the event feed")


def follow(session: Session) -> int:
    """Follows the event feed or, if the deployment has none, the job histories."""
    installation = session.installation()
    if not session.options.history:
        path = ("installations", installation, "feed")
        try:
            newest = session.api.get(*path, limit=1)
        except ApiError as error:
            if error.status != NOT_FOUND:
                raise
        else:
            return _follow_feed(session, path, newest["items"])
    return _follow_histories(session, installation)


def _follow_feed(session: Session, path: tuple[object, ...], newest: list[Json]) -> int:
    """Continues after the last event that was shown, or after the newest event if none is recent enough."""
    query: dict[str, object] = {"order": "oldest", "limit": LARGEST_PAGE}
    anchor = newest[-1]["id"] if newest else None
    response = session.api.get(*path, **query, since=session.instant(session.options.since))
    while True:
        for event in response["items"]:
            _show(session, event, feed_line)
            anchor = event["id"]
        if not response["next_cursor"]:
            session.pause(session.options.interval)
        since = None if anchor else session.instant(session.options.since)
        response = _get_with_retries(session, *path, **query, after=anchor, since=since)


def _follow_histories(session: Session, installation: int) -> int:
    """The API returns events oldest first and none twice, and each response contains where the next one starts."""
    path = ("installations", installation, "events")
    since = session.instant(session.options.since)
    response = session.api.get(*path, since=since)
    while True:
        for event in response["items"]:
            _show(session, event, event_line)
        since = response["next_since"]
        session.pause(session.options.interval)
        response = _get_with_retries(session, *path, since=since)


def _get_with_retries(session: Session, *path: object, **query: object) -> Json:
    """A transient error must not end a command that runs for hours."""
    while True:
        try:
            return session.api.get(*path, **query)
        except (ApiError, Unreachable) as error:
            if not _is_transient(error):
                raise
            session.screen.note(f"runledger: {error}; retrying")
            session.pause(session.options.interval)


def _is_transient(error: CommandError) -> bool:
    return not isinstance(error, ApiError) or error.status in TRANSIENT_STATUSES


def _interval(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = -1
    if not 0 <= found <= MAX_INTERVAL_SECONDS:
        raise argparse.ArgumentTypeError(f"{text!r} must be a number of seconds from 0 to {MAX_INTERVAL_SECONDS}")
    return found


def _show(session: Session, event: dict[str, Any], line: Callable[[Style, dict[str, Any]], str]) -> None:
    if session.screen.as_json:
        session.screen.document(event, on_one_line=True)
    else:
        session.screen.show([line(session.screen.style, event)])
