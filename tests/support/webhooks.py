"""Deliveries for tests, made from GitHub's own example payloads."""

import hashlib
import hmac
import json
from collections.abc import Mapping
from typing import Any

from runledger.model.inputs import Receipt
from runledger.webhooks.delivery import Delivery
from runledger.webhooks.readers import dispatcher

from local.github.examples import example

SECRET = "a-webhook-secret-of-the-tests"
INSTALLATION, JOB, RUN, DEPLOYMENT = 23154469, 12877621891, 4747967848, 875_132
REPO = "lineville/elastic-machines-testing"
QUEUED, WAITING, QUEUED_AGAIN, IN_PROGRESS, COMPLETED = LIFE = (
    "queued",
    "waiting",
    "queued again",
    "in_progress",
    "completed",
)
RAN_ON = {"runner_id": 42, "runner_name": "runs-on--i-0abc1234def567890--x", "runner_group_id": 1}


def payload(step: str, *, job_id: int = JOB, **changes: object) -> dict[str, Any]:
    """One webhook of a job that waits for an environment; `changes` go into `workflow_job`."""
    message = example("workflow_job", "waiting")
    action = "queued" if step == QUEUED_AGAIN else step
    message["action"] = action
    message["repository"]["custom_properties"] = {"team": "platform", "tier": ["gold", "silver"]}
    job = message["workflow_job"]
    job.update(id=job_id, status=action, created_at="2025-01-15T10:00:00Z", started_at="2025-01-15T10:00:00Z")
    if step == QUEUED_AGAIN:
        message["deployment"] = {"id": DEPLOYMENT, "environment": "production"}
    if step in (IN_PROGRESS, COMPLETED):
        job.update(RAN_ON, started_at="2025-01-15T10:02:30Z")
    if step == COMPLETED:
        job.update(completed_at="2025-01-15T10:12:45Z", conclusion="success")
    job.update(changes)
    return message


def delivery(message: object, *, guid: str, at: int = 0, event: str = "workflow_job") -> Delivery:
    """Received `at` seconds after ten o'clock."""
    return Delivery(
        event=event,
        delivery_id=guid,
        body=json.dumps(message).encode(),
        received_at=f"2025-01-15T10:{at // 60:02}:{at % 60:02}.123Z",
        received_by="a-log-stream",
    )


def receipt(step: str, *, at: int = 0, guid: str | None = None, job_id: int = JOB, **changes: object) -> Receipt:
    (found,) = dispatcher.read(delivery(payload(step, job_id=job_id, **changes), guid=guid or f"guid of {step}", at=at))
    assert isinstance(found, Receipt)
    return found


def sign(body: bytes, secret: str = SECRET) -> str:
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def http_event(
    body: bytes,
    *,
    guid: str | None = "72d3162e-cc78-11e3-81ab-4c9367dc0958",
    event: str | None = "workflow_job",
    signature: str | None = "right",
    host: str | None = None,
    at_epoch_ms: int = 1_736_935_200_123,
) -> dict[str, Any]:
    """A request as API Gateway hands it to the function (payload format 2.0)."""
    headers: Mapping[str, str | None] = {
        "content-type": "application/json",
        "user-agent": "GitHub-Hookshot/044aadd",
        "x-github-delivery": guid,
        "x-github-event": event,
        "x-github-enterprise-host": host,
        "x-hub-signature-256": sign(body) if signature == "right" else signature,
    }
    return {
        "version": "2.0",
        "routeKey": "POST /webhooks/github",
        "rawPath": "/webhooks/github",
        "headers": {name: value for name, value in headers.items() if value is not None},
        "requestContext": {"http": {"method": "POST"}, "timeEpoch": at_epoch_ms},
        "body": body.decode("utf-8", "surrogateescape"),
        "isBase64Encoded": False,
    }
