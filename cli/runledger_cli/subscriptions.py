"""Finds subscriptions by name, and waits for messages to end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runledger_cli.errors import CommandError, UsageError
from runledger_cli.rendering.messages import result_line

if TYPE_CHECKING:
    from runledger_cli.api import Json
    from runledger_cli.session import Session

POLL_SECONDS = 2.0
# A healthy receiver responds within seconds. A message that waits for another attempt may take a day.
MAX_WAIT_SECONDS = 120
FINAL_STATUSES = ("completed", "failed")
SHORTEST_PREFIX = 4


def find(session: Session, given: str, items: list[Json] | None = None) -> Json:
    """By its name, its id, or the beginning of its id."""
    known = session.api.get(*session.path("subscriptions"))["items"] if items is None else items
    found = [each for each in known if given in (each["subscription_id"], each["name"])]
    if not found and len(given) >= SHORTEST_PREFIX:
        found = [each for each in known if each["subscription_id"].startswith(given)]
    if len(found) == 1:
        return dict(found[0])
    if found:
        listed = ", ".join(each["subscription_id"] for each in found)
        raise UsageError(f"{len(found)} subscriptions match {given!r}: use an id: {listed}")
    names = ", ".join(each["name"] for each in known) or "none"
    raise CommandError(f"no subscription matches {given!r}; the subscriptions are: {names}")


def report(session: Session, messages: list[Json], *, wait: bool) -> int:
    """Prints each message, or waits until all have ended. The exit code is 1 if one failed or still waits."""
    screen = session.screen
    where = session.path("messages") if wait else ()
    ended = [_ended(session, where, each) for each in messages] if wait else messages
    if screen.as_json:
        screen.document({"items": ended})
    else:
        names = _names(session) if len(ended) > 1 else {}
        screen.show(result_line(screen.style, each, names.get(each["subscription_id"])) for each in ended)
    return 0 if not wait or all(each["status"] == "completed" for each in ended) else 1


def _names(session: Session) -> dict[str, str]:
    known = session.api.get(*session.path("subscriptions"))["items"]
    return {each["subscription_id"]: each["name"] for each in known}


def _ended(session: Session, where: tuple[object, ...], message: Json) -> Json:
    """Polls until the message has ended. Stops earlier if it waits for its next attempt, which may take a day."""
    found: dict[str, Any] = message
    for _ in range(round(MAX_WAIT_SECONDS / POLL_SECONDS)):
        if found["status"] in FINAL_STATUSES or found.get("next_attempt_at"):
            return found
        session.pause(POLL_SECONDS)
        found = session.api.get(*where, message["message_id"])
    return found
