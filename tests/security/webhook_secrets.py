"""Webhook secrets with limits, and deliveries that are signed with one of them."""

import json
from typing import Any

from tests.functions.conftest import World
from tests.support.beds import dump
from tests.support.webhooks import INSTALLATION, QUEUED, REPO, http_event, payload, sign

OWNER = REPO.partition("/")[0]
OTHER_INSTALLATION = 7
MINE = "the secret of my own hook"
REFUSED = (400, 403)  # as malformed or as out of scope: nothing is stored either way


def store(world: World, entries: object) -> None:
    """Entries of Secrets Manager; the function starts afterwards and reads them at its first delivery."""
    text = entries if isinstance(entries, str) else json.dumps(entries)
    world.secrets.put_secret_value(SecretId=world.secret_arn, SecretString=text)
    world.start("webhook_intake")


def scoped(**limits: object) -> dict[str, object]:
    return {"mine": {"secret": MINE, **limits}}


def job(installation: int | None = INSTALLATION, repo: str = REPO) -> tuple[str, dict[str, Any]]:
    """None is a hook that belongs to no App: it names no installation."""
    message = payload(QUEUED)
    message["repository"]["full_name"] = repo
    message["installation"] = {"id": installation}
    if installation is None:
        del message["installation"]
    return "workflow_job", message


def deliver(world: World, about: tuple[str, dict[str, Any]], secret: str = MINE) -> dict[str, Any]:
    event, message = about
    body = json.dumps(message).encode()
    response: dict[str, Any] = world.invoke(
        "webhook_intake", http_event(body, event=event, signature=sign(body, secret), guid=f"guid of {event}")
    )
    return response


def status(world: World, about: tuple[str, dict[str, Any]], secret: str = MINE) -> int:
    """A rejected delivery stores nothing."""
    before = dump(world.dynamodb)
    code = int(deliver(world, about, secret)["statusCode"])
    assert code == 202 or (dump(world.dynamodb) == before and not world.deferred())
    return code
