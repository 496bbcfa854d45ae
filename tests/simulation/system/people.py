"""Operators: they list the orphans and request cleanups through the API."""

import hashlib
import json
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.simulation.system.invocations import Invocation
    from tests.simulation.system.world import SystemWorld

OPERATOR, OPERATOR_OF_ONE = "the-token-of-an-operator", "the-token-of-an-operator-of-one"
ACME = 501


def _entry(token: str, installations: Any) -> dict[str, Any]:
    digest = hashlib.sha256(token.encode()).hexdigest()
    return {"name": token, "role": "operator", "sha256": digest, "installations": installations}


API_TOKENS = {"tokens": [_entry(OPERATOR, "*"), _entry(OPERATOR_OF_ONE, [ACME])], "cursor_key": "a-key"}


def look_for_orphans(world: "SystemWorld", token: str) -> None:
    """List orphans, and order the cleanup of each."""
    _request(world, token, "GET", "/admin/orphans", done=partial(_clean_all, world, token))


def _clean_all(world: "SystemWorld", token: str, listing: "Invocation") -> None:
    if not listing.result or listing.result["statusCode"] != 200:
        return
    for orphan in json.loads(listing.result["body"])["orphans"]:
        for _ in range(world.dice.choice((1, 2))):  # a double click
            world.counts["cleanups requested by people"] += 1
            _request(world, token, "POST", f"/admin/orphans/{orphan['runner_id']}/cleanup")


def _request(world: "SystemWorld", token: str, method: str, path: str, **options: Any) -> None:
    event = {
        "version": "2.0",
        "routeKey": "ANY /{proxy+}",
        "rawPath": path,
        "rawQueryString": "",
        "headers": {"authorization": f"Bearer {token}"},
        "requestContext": {
            "http": {"method": method, "path": path},
            "stage": "$default",
            "requestId": "a-request",
            "timeEpoch": round(world.now() * 1000),
        },
        "isBase64Encoded": False,
    }
    world.invoke("api", event, about=f"{method} {path}", **options)
