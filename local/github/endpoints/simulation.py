"""The control API, with which tests and the demo set up the simulation."""

from dataclasses import asdict

from local.github.credentials import APP_ID, CLIENT_ID
from local.github.messages import Refusal, Response, not_found
from local.github.records import COLLECTIONS
from local.github.routing import Call, Needs, Routes
from local.github.shapes.apps import SLUG
from local.github.shapes.deliveries import delivery_row

routes = Routes(Needs.NOTHING)


@routes.add("GET", "/_simulation/app")
def get_credentials(call: Call) -> Response:
    """Includes the private key, which GitHub shows only once; the local deployment needs it."""
    key = call.state.credentials.private_key
    return Response(200, {"id": APP_ID, "client_id": CLIENT_ID, "slug": SLUG, "private_key": key})


@routes.add("GET", "/_simulation/settings")
def get_settings(call: Call) -> Response:
    return Response(200, asdict(call.state.settings))


@routes.add("PUT", "/_simulation/settings")
def put_settings(call: Call) -> Response:
    return Response(200, asdict(call.state.configure(**call.request.json())))


@routes.add("POST", "/_simulation/webhooks")
def send_webhook(call: Call) -> Response:
    """Responds with the row of the delivery log, after the receiver has responded."""
    webhook = call.request.json()
    if not isinstance(webhook.get("event"), str) or not isinstance(webhook.get("payload"), dict):
        raise Refusal(422, "A webhook requires an event (its name) and a payload (an object)")
    return Response(201, delivery_row(call.courier.send(webhook["event"], webhook["payload"], webhook.get("guid"))))


@routes.add("GET", "/_simulation/deliveries")
def list_deliveries(call: Call) -> Response:
    """The whole log, newest first, after all pending deliveries have arrived."""
    call.courier.settle()
    return Response(200, [delivery_row(row) for row in call.courier.log()])


@routes.add("POST", "/_simulation/faults")
def add_fault(call: Call) -> Response:
    return Response(201, asdict(call.state.add_fault(**call.request.json())))


@routes.add("DELETE", "/_simulation/faults")
def clear_faults(call: Call) -> Response:
    call.state.clear_faults()
    return Response(204)


@routes.add("GET", "/_simulation/calls")
def count_calls(call: Call) -> Response:
    return Response(200, call.state.calls_by_route())


@routes.add("POST", "/_simulation/reset")
def reset(call: Call) -> Response:
    call.courier.settle()
    call.state.reset()
    return Response(204)


@routes.add("PUT", "/_simulation/{collection}/{id}")
def put_record(call: Call) -> Response:
    if call.values["collection"] not in COLLECTIONS:
        raise not_found()
    return Response(200, asdict(call.state.put(call.values["collection"], call.number("id"), **call.request.json())))


@routes.add("DELETE", "/_simulation/{collection}/{id}")
def remove_record(call: Call) -> Response:
    if call.values["collection"] not in COLLECTIONS:
        raise not_found()
    call.state.remove(call.values["collection"], call.number("id"))
    return Response(204)
