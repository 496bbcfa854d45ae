"""Handles a call: faults, credentials, rate limit, endpoint, ETag."""

import hashlib
from collections.abc import Callable
from dataclasses import replace

from local.github import budget
from local.github.courier import Courier
from local.github.endpoints import CONTROL, GITHUB
from local.github.faults import REFUSALS, FaultKind
from local.github.messages import Refusal, Request, Response, not_found
from local.github.records import Installation
from local.github.routing import Call, Needs, Route
from local.github.state import State

CONTROL_PREFIX = "/_simulation/"
ANONYMOUS = "anonymous callers"


def dispatch(state: State, courier: Courier, request: Request, pause: Callable[[float], object]) -> Response:
    if request.path.startswith(CONTROL_PREFIX):
        return _control(state, courier, request)
    with state.lock:
        slow = state.faults.use((FaultKind.SLOW,), request.method, request.path)
        lost = state.faults.use((FaultKind.LOST_RESPONSE,), request.method, request.path)
        response = _github(state, courier, request)
    if lost:
        # As by a gateway that times out: the call is executed.
        return lost.refusal(resets_at=0).response
    if slow:
        # Only the response is delayed: the call is executed even if the client times out.
        pause(slow.seconds)
    return response


def _control(state: State, courier: Courier, request: Request) -> Response:
    """Doesn't acquire the lock: the receiver of a webhook may call GitHub."""
    try:
        found = CONTROL.find(request.method, request.path)
        if found is None:
            raise not_found()
        route, values = found
        return route.endpoint(Call(state, courier, request, values, ANONYMOUS))
    except Refusal as refusal:
        return refusal.response


def _github(state: State, courier: Courier, request: Request) -> Response:
    now, caller = state.now(), ANONYMOUS
    found = GITHUB.find(request.method, request.path)
    try:
        fault = state.faults.use(REFUSALS, request.method, request.path)
        if fault:
            raise fault.refusal(resets_at=state.budget.report(caller, now)["reset"])
        if found is None:
            raise not_found()
        route, values = found
        caller, installation = _authenticate(state, route, request)
        if not route.free:
            state.budget.spend(caller, now)
        response = _conditional(request, route.endpoint(Call(state, courier, request, values, caller, installation)))
        if response.status == 304 and not route.free:
            state.budget.refund(caller, now)
    except Refusal as refusal:
        response = refusal.response
    state.calls[found[0].name if found else f"{request.method} elsewhere", response.status] += 1
    return replace(response, headers=budget.headers(state.budget.report(caller, now)) | response.headers)


def _authenticate(state: State, route: Route, request: Request) -> tuple[str, Installation | None]:
    scheme, _, credential = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() not in ("bearer", "token"):
        raise Refusal(401, "Requires authentication")
    if route.needs is Needs.JWT:
        state.credentials.check_jwt(credential, state.now())
        return "the App", None
    installation_id = state.credentials.installation_of(credential, state.now())
    installation = state.installations.get(installation_id)
    if installation is None or installation.suspended_at:
        raise Refusal(401, "Bad credentials")
    return f"installation ID {installation_id}", installation


def _conditional(request: Request, response: Response) -> Response:
    if request.method != "GET" or response.status != 200:
        return response
    etag = f'W/"{hashlib.sha256(response.body).hexdigest()}"'
    headers = response.headers | {"ETag": etag}
    if request.headers.get("if-none-match") == etag:
        return Response(304, headers=headers)
    return replace(response, headers=headers)
