from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from runledger_cli import subscriptions
from runledger_cli.errors import UsageError
from runledger_cli.options import STDIN, add_command

if TYPE_CHECKING:
    from runledger_cli.options import Commands
    from runledger_cli.session import Session

EXAMPLES = """\
runledger notify "Runners are down for maintenance until 18:00" --title Maintenance
runledger notify "Deployed 1.2.3" --to Releases --id deploy-1.2.3 --wait
df -h | runledger notify - --title "Disk usage of the build host\""""


def add_to(commands: Commands) -> None:
    parser = add_command(
        commands,
        "notify",
        send,
        summary="send a message to subscriptions (operators only)",
        examples=EXAMPLES,
    )
    parser.add_argument("text", metavar="TEXT", help="the message; - reads it from stdin")
    parser.add_argument("--title", help="title of the message")
    parser.add_argument(
        "--to", metavar="SUBSCRIPTION", help="a subscription's name or id (default: all enabled ones except launchers)"
    )
    parser.add_argument(
        "--priority", type=int, choices=range(1, 6), metavar="1-5", help="priority for ntfy; 5 is the highest"
    )
    parser.add_argument("--tag", action="append", metavar="TAG", help="tag for ntfy; may be repeated")
    parser.add_argument("--url", type=_url, metavar="URL", help="URL that a click on the message opens")
    parser.add_argument("--id", metavar="ID", help="an id of your choice: a message is sent once for each id")
    parser.add_argument(
        "--wait", action="store_true", help="wait for the receivers; the exit code is 1 if one doesn't accept it"
    )


def send(session: Session) -> int:
    given = session.options
    try:
        text = sys.stdin.read() if given.text == STDIN else given.text
    except UnicodeDecodeError as error:
        raise UsageError(f"the message isn't valid UTF-8: {error}") from error
    if not text.strip():
        raise UsageError("the message is empty")
    body: dict[str, Any] = {
        "text": text,
        "title": given.title,
        "priority": given.priority,
        "tags": given.tag,
        "click_url": given.url,
        "id": given.id,
        "subscription_id": subscriptions.find(session, given.to)["subscription_id"] if given.to else None,
    }
    known = {name: value for name, value in body.items() if value is not None}
    sent = session.api.post(*session.path("messages"), body=known)
    return subscriptions.report(session, sent["items"], wait=given.wait)


def _url(text: str) -> str:
    if not text.startswith(("https://", "http://")):
        raise argparse.ArgumentTypeError(f"{text!r} must begin with https:// or http://")
    return text
