"""MiniStack with seven adaptations, so it can deploy the stacks and enforce IAM as AWS does.

- TLS: requests appear as https, because policies of CDK's asset bucket and of the queues deny requests without TLS.
- Credentials: any dummy access key works; MiniStack accepts only the one that it was started with.
- Events: clients may publish events of EC2 and ECS, because the emulated services publish none. `Time` dates an
  event, as on AWS; MiniStack ignores it.
- Logs Insights: saved queries are accepted and ignored, because MiniStack doesn't support them.
- IAM: policies can use the tags of EC2 instances in conditions.
- SQS: dead letters can be redriven, which MiniStack doesn't support. The task is finished when its call returns.
- Unsupported services, such as pricing: the list of AWS services is loaded at startup. During a request, loading it
  takes seconds and blocks all other requests.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import time
from collections.abc import Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from botocore.session import get_session
from hypercorn.asyncio import serve
from hypercorn.config import Config
from ministack.app import app as ministack
from ministack.core import router
from ministack.core.responses import get_account_id, get_region
from ministack.services import ec2, eventbridge, sqs, tagging
from ministack.services.cloudformation import provisioners

from local.processes import LOOPBACK

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hypercorn.typing import ASGIReceiveCallable, ASGISendCallable, Scope

# The keys of role sessions, which functions and `cdk` use, start with ASIA.
_DUMMY_KEY = re.compile(rb"(?<=Credential=)(?!ASIA)[^/]+")

_now: ContextVar[float | None] = ContextVar("_now", default=None)

Header = tuple[bytes, bytes]
Response = tuple[int, dict[str, str], bytes]

_put_undated: Callable[..., Response] = eventbridge._put_events


async def gateway(scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
    if scope["type"] == "http":
        scope["scheme"] = "https"
        scope["headers"] = list(as_owner(scope["headers"]))
    await ministack(scope, receive, send)


def as_owner(headers: Iterable[Header]) -> Iterator[Header]:
    """Replace dummy keys by the account owner's key. Sessions of roles are unchanged."""
    sent = list(headers)
    is_dummy = any(name == b"authorization" and _DUMMY_KEY.search(value) for name, value in sent)
    for name, value in sent:
        if is_dummy and name == b"authorization":
            yield name, _DUMMY_KEY.sub(os.environb[b"AWS_ACCESS_KEY_ID"], value)
        elif not (is_dummy and name == b"x-amz-security-token"):
            yield name, value


def put_events(request: dict[str, Any]) -> Response:
    """Puts dated entries one by one, each at its own time."""
    entries = request.get("Entries", [])
    if not any("Time" in entry for entry in entries):
        return _put_undated(request, allow_aws_source=True)
    results: list[Any] = []
    for entry in entries:
        token = _now.set(entry.get("Time"))
        try:
            status, headers, body = _put_undated({"Entries": [entry]}, allow_aws_source=True)
        finally:
            _now.reset(token)
        results += json.loads(body)["Entries"]
    failed = sum("ErrorCode" in each for each in results)
    return status, headers, json.dumps({"FailedEntryCount": failed, "Entries": results}).encode()


def now() -> float:
    return _now.get() or time.time()


def tags_of_instances() -> Iterator[tuple[str, list[dict[str, str]]]]:
    for instance_id, tags in ec2._tags.items():
        yield f"arn:aws:ec2:{get_region()}:{get_account_id()}:instance/{instance_id}", tags


def redrive(request: dict[str, Any], _url: str) -> dict[str, str]:
    """StartMessageMoveTask: each message returns to the queue that it came from."""
    arn = request.get("SourceArn", "")
    if not any(arn in queue["attributes"].get("RedrivePolicy", "") for queue in sqs._queues.values()):
        raise sqs._Err("InvalidParameterValue", "Source queue must be configured as a Dead Letter Queue.")
    dead = sqs._queue_by_arn(arn)
    kept = []
    for message in dead["messages"]:
        origin = sqs._queue_by_arn(message["sys"].get("DeadLetterQueueSourceArn", ""))
        if origin is None:
            kept.append(message)
        else:
            origin["messages"].append(message | {"receive_count": 0, "visible_at": time.time(), "receipt_handle": None})
    dead["messages"] = kept
    sqs.esm_wake.set()
    return {"TaskHandle": f"move of {arn}"}


def accept(logical_id: str, _properties: object, stack_name: str) -> tuple[str, dict[str, str]]:
    return f"{stack_name}-{logical_id}", {}


def keep(physical_id: str, *_: object, **__: object) -> tuple[str, dict[str, str]]:
    return physical_id, {}


if __name__ == "__main__":
    eventbridge._put_events = put_events
    eventbridge._now_ts = now
    sqs._HANDLERS["StartMessageMoveTask"] = redrive
    tagging._RESOURCE_TAG_COLLECTORS["ec2"] = tags_of_instances
    router._KNOWN_AWS_SERVICE_NAMES = frozenset(get_session().get_available_services())
    provisioners._RESOURCE_HANDLERS["AWS::Logs::QueryDefinition"] = {"create": accept, "update": keep, "delete": keep}
    config = Config()
    config.bind = [f"{LOOPBACK}:{os.environ['GATEWAY_PORT']}"]
    config.keep_alive_timeout = 75
    asyncio.run(serve(gateway, config))
