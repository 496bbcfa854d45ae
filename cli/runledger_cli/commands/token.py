from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from runledger_cli import api_tokens
from runledger_cli.api_tokens import ALL, ROLES
from runledger_cli.options import add_command
from runledger_cli.secrets_manager import SecretsManager

if TYPE_CHECKING:
    from runledger_cli.options import Commands
    from runledger_cli.session import Session

CREATE = "runledger token create ana --role operator --installations all"


def add_to(commands: Commands) -> None:
    parser = add_command(commands, "token", None, summary="create or remove a token for the API", examples=CREATE)
    actions = parser.add_subparsers(metavar="ACTION", title="actions", required=True)
    creating = add_command(
        actions,
        "create",
        create,
        summary="create a token, print it once and store its hash in the deployment's secret",
        examples=f"{CREATE}\nrunledger token create ci --installations 41000001 41000002 --stage staging",
    )
    creating.add_argument("name", help="name of the token's owner: unique, at most 100 characters")
    creating.add_argument("--role", choices=ROLES, default=ROLES[0], help="role of the token (default: %(default)s)")
    creating.add_argument(
        "--installations",
        required=True,
        nargs="+",
        type=_installation,
        metavar="ID",
        help="ids of the installations that it can access, or `all`",
    )
    removing = add_command(
        actions,
        "remove",
        remove,
        summary="remove a token from the deployment's secret: it stops working within a minute",
        examples="runledger token remove ana",
    )
    removing.add_argument("name", help="name of the token's owner")
    for action in (creating, removing):
        action.add_argument("--stage", default="prod", help="the stage of the deployment (default: %(default)s)")
        action.add_argument(
            "--secret", metavar="ARN", help="the secret that stores the tokens (default: found by the stage)"
        )


def create(session: Session) -> int:
    given = session.options
    token = api_tokens.new_token()
    installations = ALL if ALL in given.installations else given.installations
    entry = api_tokens.new_entry(token, name=given.name, role=given.role, installations=installations)
    secret = _change(session, lambda text: api_tokens.add(text, entry))
    if session.screen.as_json:
        session.screen.document(
            {"name": given.name, "role": given.role, "installations": installations, "token": token, "secret": secret}
        )
    else:
        session.screen.show([token])
    session.screen.note(
        f"runledger: created the {given.role} token {given.name!r}. It works within a minute. "
        "Only its hash is stored: it can't be shown again"
    )
    return 0


def remove(session: Session) -> int:
    name = session.options.name
    secret = _change(session, lambda text: api_tokens.remove(text, name))
    if session.screen.as_json:
        session.screen.document({"name": name, "secret": secret})
    session.screen.note(f"runledger: removed the token {name!r}. It stops working within a minute")
    return 0


def _change(session: Session, change: Callable[[str], str]) -> str:
    """Returns the ARN of the secret."""
    secrets = SecretsManager(os.environ)
    secret: str = session.options.secret or secrets.of_stage(session.options.stage)
    secrets.change(secret, change)
    return secret


def _installation(text: str) -> int | str:
    if text in ("all", ALL):
        return ALL
    if text.isdecimal() and text.isascii():
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is neither the id of an installation nor `all`")
