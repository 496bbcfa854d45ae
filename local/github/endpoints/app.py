"""The App itself, its installations and their tokens."""

from datetime import timedelta

from local.github.messages import Refusal, Response, not_found
from local.github.paging import page_of
from local.github.records import Installation
from local.github.routing import Call, Needs, Routes
from local.github.shapes import apps
from local.github.state import timestamp

routes = Routes(Needs.JWT)


@routes.add("GET", "/app")
def get_app(call: Call) -> Response:
    return Response(200, apps.app(call.site, len(call.state.installations)))


@routes.add("GET", "/app/installations")
def list_installations(call: Call) -> Response:
    page, headers = page_of(call.request, list(call.state.installations.values()))
    return Response(200, [apps.installation(call.site, installed) for installed in page], headers)


@routes.add("GET", "/app/installations/{installation_id}")
def get_installation(call: Call) -> Response:
    return Response(200, apps.installation(call.site, _installation(call)))


@routes.add("POST", "/app/installations/{installation_id}/access_tokens")
def create_token(call: Call) -> Response:
    installed = _installation(call)
    if installed.suspended_at:
        raise Refusal(403, "This installation has been suspended")
    expires = call.state.now() + timedelta(seconds=call.state.settings.token_lifetime_seconds)
    token = call.state.credentials.issue_token(installed.id, expires)
    return Response(201, apps.token(token, timestamp(expires)))


def _installation(call: Call) -> Installation:
    installed = call.state.installations.get(call.number("installation_id"))
    if installed is None:
        raise not_found()
    return installed
