"""Subscriptions: which events go to which channel."""

from collections.abc import Mapping
from typing import Annotated, Any

from aws_lambda_powertools.event_handler.openapi.params import Body, Path
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from runledger.notifications.subscriptions import Subscription as StoredSubscription

from runledger_api.authentication import Role
from runledger_api.authorization import requires
from runledger_api.errors import NotFound
from runledger_api.features import require_notifications
from runledger_api.models.notifications import (
    Message,
    NewSecret,
    NewSubscription,
    Subscription,
    SubscriptionChanges,
    Subscriptions,
)
from runledger_api.notification_requests import author, message_body
from runledger_api.parameters import GENERATED_ID, INSTALLATION, InstallationId, required
from runledger_api.request import current_request

router = APIGatewayHttpRouter()
SUBSCRIPTIONS = f"{INSTALLATION}/subscriptions"
ONE = f"{SUBSCRIPTIONS}/<subscription_id>"
SubscriptionId = Annotated[str, Path(pattern=GENERATED_ID, description="`subscription_id` of the subscription")]
HEALTH_FIELDS = ("paused_until", "last_error", "succeeded_at", "failed_at")


@router.get(
    SUBSCRIPTIONS, tags=["notifications"], operation_id="listSubscriptions", summary="Subscriptions and their health"
)
def subscriptions(installation_id: InstallationId) -> Subscriptions:
    found = require_notifications().administration
    health = found.receivers.all(installation_id)
    now = current_request(router).now
    items = [_body(each, health.get(each.subscription_id, {}), now=now) for each in found.all(installation_id)]
    return {"items": items, "next_cursor": None}


@router.post(
    SUBSCRIPTIONS,
    tags=["notifications"],
    operation_id="createSubscription",
    summary="Create a subscription",
    description="Requires the role operator. For the channel webhook, `secret` is in this response only.",
    status_code=201,
)
@requires(Role.OPERATOR)
def create(installation_id: InstallationId, body: Annotated[NewSubscription | None, Body()] = None) -> Subscription:
    request = current_request(router)
    made, secret = require_notifications().administration.create(
        installation_id, dict(required("body", body)), author(request)
    )
    return _body(made, {}, now=request.now, secret=secret)


@router.get(ONE, tags=["notifications"], operation_id="getSubscription", summary="One subscription and its health")
def subscription(installation_id: InstallationId, subscription_id: SubscriptionId) -> Subscription:
    found = _found(installation_id, subscription_id)
    health = require_notifications().administration.receivers.get(installation_id, subscription_id)
    return _body(found, health, now=current_request(router).now)


@router.patch(
    ONE,
    tags=["notifications"],
    operation_id="changeSubscription",
    summary="Change a subscription",
    description="Requires the role operator. The channel's kind can't be changed.",
)
@requires(Role.OPERATOR)
def change(
    installation_id: InstallationId,
    subscription_id: SubscriptionId,
    body: Annotated[SubscriptionChanges | None, Body()] = None,
) -> Subscription:
    found, request = _found(installation_id, subscription_id), current_request(router)
    changed = require_notifications().administration.change(found, dict(required("body", body)), author(request))
    health = require_notifications().administration.receivers.get(installation_id, subscription_id)
    return _body(changed, health, now=request.now)


@router.delete(
    ONE,
    tags=["notifications"],
    operation_id="deleteSubscription",
    summary="Delete a subscription and its secret",
    description="Requires the role operator. Messages that are still waiting fail.",
)
@requires(Role.OPERATOR)
def delete(installation_id: InstallationId, subscription_id: SubscriptionId) -> Subscription:
    found = _found(installation_id, subscription_id)
    require_notifications().administration.delete(found)
    return _body(found, {}, now=current_request(router).now)


@router.post(
    f"{ONE}/test",
    tags=["notifications"],
    operation_id="testSubscription",
    summary="Send a test message",
    description="Requires the role operator. Poll the message until it has ended.",
    status_code=202,
)
@requires(Role.OPERATOR)
def test(installation_id: InstallationId, subscription_id: SubscriptionId) -> Message:
    found = _found(installation_id, subscription_id)
    sent = require_notifications().administration.test(found, author(current_request(router)))
    return message_body(installation_id, sent.message_id)


@router.post(
    f"{ONE}/rotate-secret",
    tags=["notifications"],
    operation_id="rotateSecret",
    summary="Replace the secret of a subscription",
    description="Requires the role operator. For 24 hours, webhooks are signed with both secrets. A secret that was "
    "generated is in this response only.",
)
@requires(Role.OPERATOR)
def rotate(
    installation_id: InstallationId,
    subscription_id: SubscriptionId,
    body: Annotated[NewSecret | None, Body()] = None,
) -> Subscription:
    found, request = _found(installation_id, subscription_id), current_request(router)
    changed, secret = require_notifications().administration.rotate(found, (body or {}).get("secret"), author(request))
    return _body(changed, {}, now=request.now, secret=secret)


def _found(installation_id: int, subscription_id: str) -> StoredSubscription:
    found = require_notifications().administration.get(installation_id, subscription_id)
    if found is None:
        raise NotFound(f"Subscription {subscription_id} was not found")
    return found


def _body(found: StoredSubscription, health: Mapping[str, Any], now: str, secret: str | None = None) -> Any:
    item = found.to_item()
    return {
        **{
            name: value
            for name, value in item.items()
            if name not in ("installation_id", "secret_name", "schedule_since")
        },
        "has_secret": found.secret_name is not None,
        "health": {
            "status": _status(health, now),
            "failures": health.get("failures", 0),
            **{name: health[name] for name in HEALTH_FIELDS if name in health},
        },
        **({"secret": secret} if secret else {}),
    }


def _status(health: Mapping[str, Any], now: str) -> str:
    if health.get("paused_until", "") > now:
        return "paused"
    if health.get("failures"):
        return "failing"
    if "succeeded_at" not in health:
        return "unknown"
    return "slow" if health.get("is_slow") else "healthy"
