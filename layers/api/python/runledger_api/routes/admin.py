"""What an operator does beside the reconciler: have a webhook sent again, and look at what nobody tries any more."""

from itertools import islice
from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Path
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from runledger import api_runtime, github_runtime
from runledger_github.app import GitHubApp

from runledger_api.models.admin import DeadLetterQueues, Redelivery
from runledger_api.refusals import Conflict, NoSuchThing
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
# A hundred deliveries each: an older one is found by its number in the App's settings on GitHub.
PAGES_SEARCHED = 20


@router.post(
    "/admin/webhooks/<delivery_id>/redeliver",
    tags=["admin"],
    operation_id="redeliverWebhook",
    summary="Ask GitHub to send a webhook of the App again",
    status_code=202,
)
def redeliver(delivery_id: DeliveryId) -> Redelivery:
    visit(router).caller.must_see_all()
    known = github_runtime.truth()
    if known is None:
        raise Conflict("there is no GitHub App: only an App's webhooks can be sent again by asking")
    number = int(delivery_id) if delivery_id.isascii() and delivery_id.isdigit() else _number(known.app, delivery_id)
    if number is None:
        raise NoSuchThing(f"GitHub's log has no delivery {delivery_id} among the newest")
    known.app.redeliver(number)
    return {"delivery_ids": [number]}


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


def _number(app: GitHubApp, guid: str) -> int | None:
    for page in islice(app.hook_deliveries(), PAGES_SEARCHED):
        for delivery in page.deliveries:
            if delivery["guid"] == guid:
                return int(delivery["id"])
    return None
