from __future__ import annotations

from typing import TYPE_CHECKING

from runledger_cli import subscriptions
from runledger_cli.errors import ApiError
from runledger_cli.options import add_command, add_span
from runledger_cli.pages import add_pages, read_pages, show_pages
from runledger_cli.rendering.messages import message_details, messages_table

if TYPE_CHECKING:
    from runledger_cli.api import Json
    from runledger_cli.options import Commands
    from runledger_cli.session import Session

# The message has expired, or can't be sent again, for example because its subscription was deleted.
ONLY_THIS_MESSAGE = (404, 409)
STATUSES = ("created", "queued", "processing", "completed", "failed")
EXAMPLES = """\
runledger messages --status failed
runledger messages --subscription Pager --since 24h --all
runledger messages send-again 3b9c0e6a3f0f5a4be1d2c8a7719b0c55 --wait
runledger messages --status failed --all --json | jq -r '.items[] | select(.resent_as == null).message_id' \\
    | xargs runledger messages send-again"""


def add_to(commands: Commands) -> None:
    parser = add_command(
        commands,
        "messages",
        show,
        summary="list notification messages, or send failed ones again",
        examples=EXAMPLES,
    )
    parser.add_argument("--status", choices=STATUSES, metavar="STATUS", help=f"one of {', '.join(STATUSES)}")
    parser.add_argument("--type", metavar="TYPE", help="messages of this type, such as job.failed or runledger.digest")
    parser.add_argument(
        "--subscription", metavar="SUBSCRIPTION", help="messages of the subscription with this name or id"
    )
    parser.add_argument("--day", metavar="DATE", help="created on this day (UTC), such as 2025-01-15")
    add_span(parser, begin="all")
    add_pages(parser)
    actions = parser.add_subparsers(metavar="ACTION", title="actions")
    one = add_command(
        actions,
        "show",
        show_one,
        summary="show one message and its payload",
        examples="runledger messages show 3b9c0e6a3f0f5a4be1d2c8a7719b0c55",
    )
    one.add_argument("message", metavar="ID", help="id of a message, as listed by `messages`")
    again = add_command(
        actions,
        "send-again",
        send_again,
        summary="send failed messages again, as new messages (operators only)",
        examples="runledger messages send-again 3b9c0e6a3f0f5a4be1d2c8a7719b0c55 --wait",
    )
    again.add_argument("messages", metavar="ID", nargs="+", help="ids of failed messages")
    again.add_argument(
        "--wait", action="store_true", help="wait for the receivers; the exit code is 1 if one doesn't accept it"
    )


def show(session: Session) -> int:
    given = session.options
    known = session.api.get(*session.path("subscriptions"))["items"]
    wanted = subscriptions.find(session, given.subscription, known) if given.subscription else {}
    response = read_pages(
        session,
        "messages",
        status=given.status,
        type=given.type,
        subscription=wanted.get("subscription_id"),
        day=given.day,
        since=session.instant(given.since),
        until=session.instant(given.until),
    )
    names = {each["subscription_id"]: each["name"] for each in known}
    return show_pages(session, response, lambda style, items: messages_table(style, items, names), what="messages")


def show_one(session: Session) -> int:
    screen = session.screen
    found = session.api.get(*session.path("messages", session.options.message))
    if screen.as_json:
        screen.document(found)
    else:
        screen.show(message_details(screen.style, found))
    return 0


def send_again(session: Session) -> int:
    """A message that can't be sent again doesn't stop the others. Repeating is safe: it sends nothing twice."""
    sent: list[Json] = []
    refused = 0
    for each in dict.fromkeys(session.options.messages):
        try:
            sent.append(session.api.post(*session.path("messages", each, "send-again")))
        except ApiError as error:
            if error.status not in ONLY_THIS_MESSAGE:
                subscriptions.report(session, sent, wait=False)
                raise
            session.screen.note(f"runledger: {each}: {error}")
            refused += 1
    code = subscriptions.report(session, sent, wait=session.options.wait)
    return 1 if refused else code
