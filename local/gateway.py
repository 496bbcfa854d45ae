"""MiniStack with three ways of the local machine smoothed, so that it can enforce IAM policies as AWS does.

Loopback has no TLS, but the policies of CDK's asset bucket and of our queues refuse whoever comes without it.
People and tests come with whatever dummy key they have; MiniStack lets in only the one that it was started with.
The emulated EC2 and ECS publish nothing, so whoever plays with them here may put events in their name.
"""

from __future__ import annotations

import asyncio
import os
import re
from functools import partial
from typing import TYPE_CHECKING

from hypercorn.asyncio import serve
from hypercorn.config import Config
from ministack.app import app as ministack
from ministack.services import eventbridge

from local.processes import LOOPBACK

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hypercorn.typing import ASGIReceiveCallable, ASGISendCallable, Scope

# Functions and `cdk` sign with the session of a role, whose keys start with ASIA.
_DUMMY_KEY = re.compile(rb"(?<=Credential=)(?!ASIA)[^/]+")

Header = tuple[bytes, bytes]


async def gateway(scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
    if scope["type"] == "http":
        scope["scheme"] = "https"
        scope["headers"] = list(as_owner(scope["headers"]))
    await ministack(scope, receive, send)


def as_owner(headers: Iterable[Header]) -> Iterator[Header]:
    """Turn a dummy key into the account owner's; the sessions of roles stay what they are."""
    sent = list(headers)
    is_dummy = any(name == b"authorization" and _DUMMY_KEY.search(value) for name, value in sent)
    for name, value in sent:
        if is_dummy and name == b"authorization":
            yield name, _DUMMY_KEY.sub(os.environb[b"AWS_ACCESS_KEY_ID"], value)
        elif not (is_dummy and name == b"x-amz-security-token"):
            yield name, value


if __name__ == "__main__":
    eventbridge._put_events = partial(eventbridge._put_events, allow_aws_source=True)
    config = Config()
    config.bind = [f"{LOOPBACK}:{os.environ['GATEWAY_PORT']}"]
    config.keep_alive_timeout = 75
    asyncio.run(serve(gateway, config))
