"""The App's delivery log, and redelivery from it."""

from local.github.messages import Refusal, Response, not_found
from local.github.paging import link, page_size
from local.github.records import Delivery
from local.github.routing import Call, Needs, Routes
from local.github.shapes.deliveries import delivery, delivery_row

routes = Routes(Needs.JWT)

OUTCOMES = {"success": range(200, 400), "failure": range(400, 600)}
"""GitHub's own ranges: a delivery without a response (status 0) is in neither."""


@routes.add("GET", "/app/hook/config")
def get_config(call: Call) -> Response:
    url = call.state.settings.webhook_url
    hidden = {"secret": "********"} if call.state.settings.webhook_secret else {}
    return Response(200, {"content_type": "json", "insecure_ssl": "0", **hidden, **({"url": url} if url else {})})


@routes.add("GET", "/app/hook/deliveries")
def list_deliveries(call: Call) -> Response:
    query, size = call.request.query, page_size(call.request)
    rows = call.courier.log()
    if "status" in query:
        if query["status"] not in OUTCOMES:
            raise Refusal(422, "status must be success or failure")
        rows = [row for row in rows if row.status_code in OUTCOMES[query["status"]]]
    if "cursor" in query:
        newest = _cursor_id(query["cursor"])
        rows = [row for row in rows if row.id <= newest]
    headers = {"Link": link(call.request, "next", cursor=f"v1_{rows[size].id}")} if len(rows) > size else {}
    return Response(200, [delivery_row(row) for row in rows[:size]], headers)


@routes.add("GET", "/app/hook/deliveries/{delivery_id}")
def get_delivery(call: Call) -> Response:
    return Response(200, delivery(_delivery(call), call.state.settings.webhook_url or ""))


@routes.add("POST", "/app/hook/deliveries/{delivery_id}/attempts")
def redeliver(call: Call) -> Response:
    call.courier.redeliver(_delivery(call))
    return Response(202, {})


def _delivery(call: Call) -> Delivery:
    delivery_id = call.number("delivery_id")
    for row in call.courier.log():
        if row.id == delivery_id:
            return row
    raise not_found()


def _cursor_id(cursor: str) -> int:
    try:
        return int(cursor.removeprefix("v1_"))
    except ValueError:
        raise Refusal(400, "Invalid cursor") from None
