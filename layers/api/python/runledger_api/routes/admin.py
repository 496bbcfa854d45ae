"""Operator actions: redeliver a webhook, and inspect the dead-letter queues."""

from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Path
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter

from runledger_api import wiring
from runledger_api.authentication import Role
from runledger_api.authorization import requires
from runledger_api.models.admin import DeadLetterQueues, Redelivery
from runledger_api.request import current_request

router = APIGatewayHttpRouter()
DeliveryId = Annotated[
    str,
    Path(
        pattern=r"^[A-Za-z0-9_-]+$",
        max_length=100,
        description="GitHub's numeric id of the delivery, or its X-GitHub-Delivery header",
    ),
]


@router.post(
    "/admin/webhooks/<delivery_id>/redeliver",
    tags=["admin"],
    operation_id="redeliverWebhook",
    summary="Have GitHub redeliver a webhook of the App",
    description="Requires the role operator, for all installations.",
    status_code=202,
)
@requires(Role.OPERATOR)
def redeliver(delivery_id: DeliveryId) -> Redelivery:
    current_request(router).caller.require_all_installations()
    return {"delivery_ids": [wiring.github().redeliver(delivery_id)]}


@router.get(
    "/admin/dead-letters",
    tags=["admin"],
    operation_id="listDeadLetters",
    summary="Number of messages in each dead-letter queue",
)
def dead_letters() -> DeadLetterQueues:
    current_request(router).caller.require_all_installations()
    counts = wiring.dead_letters().counts()
    return {"items": [{"queue": name, "messages": count} for name, count in counts.items()], "next_cursor": None}
