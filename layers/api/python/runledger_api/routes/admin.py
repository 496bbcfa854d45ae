"""What an operator does beside the reconciler: have a webhook sent again, and look at what nobody tries any more."""

from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Path
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from runledger import api_runtime

from runledger_api.models.admin import DeadLetterQueues, Redelivery
from runledger_api.visits import visit

router = APIGatewayHttpRouter()
DeliveryId = Annotated[
    str,
    Path(
        pattern=r"^[A-Za-z0-9_-]+$",
        max_length=100,
        description="GitHub's number of the delivery, or its X-GitHub-Delivery",
    ),
]


@router.post(
    "/admin/webhooks/<delivery_id>/redeliver",
    tags=["admin"],
    operation_id="redeliverWebhook",
    summary="Ask GitHub to send a webhook of the App again",
    status_code=202,
)
def redeliver(delivery_id: DeliveryId) -> Redelivery:
    visit(router).caller.must_see_all()
    return {"delivery_ids": [api_runtime.github().redeliver(delivery_id)]}


@router.get(
    "/admin/dead-letters",
    tags=["admin"],
    operation_id="listDeadLetters",
    summary="How much lies in each dead-letter queue",
)
def dead_letters() -> DeadLetterQueues:
    visit(router).caller.must_see_all()
    counts = api_runtime.dead_letters().counts()
    return {"items": [{"queue": name, "messages": count} for name, count in counts.items()], "next_cursor": None}
