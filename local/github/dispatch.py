"""Handles a call: faults, credentials, rate limit, endpoint, ETag."""

import hashlib
from collections.abc import Callable
from dataclasses import replace

from local.github import budget
from local.github.courier import Courier
from local.github.endpoints import CONTROL, GITHUB
from local.github.faults import REFUSALS, FaultKind
from local.github.messages import Answer, Refusal, Request, not_found
from local.github.records import Installation
from local.github.routing import Call, Needs, Route, find
from local.github.state import State

CONTROL_PREFIX = "/_simulation/"
ANYONE = "anonymous callers"


def dispatch(state: State, courier: Courier, request: Request, pause: Callable[[float], object]) -> Answer:
    if request.path.startswith(CONTROL_PREFIX):
        return _control(state, courier, request)
    with state.lock:
        slow = state.faults.take((FaultKind.SLOW,), request.method, request.path)
        answer = _as_github(state, courier, request)
    if slow:
        # Only the response is delayed: the call is executed even if the client times out.
        pause(slow.seconds)
    return answer


def _control(state: State, courier: Courier, request: Request) -> Answer:
    """Doesn't take the lock, because the receiver of a webhook may call GitHub."""
    try:
        found = find(CONTROL, request.method, request.path)
        if found is None:
            raise not_found()
        route, values = found
        return route.endpoint(Call(state, courier, request, values, ANYONE))
    except Refusal as refusal:
        return refusal.answer


def _as_github(state: State, courier: Courier, request: Request) -> Answer:
    now, caller = state.now(), ANYONE
    found = find(GITHUB, request.method, request.path)
    try:
        fault = state.faults.take(REFUSALS, request.method, request.path)
        if fault:
            raise fault.refusal(resets_at=state.budget.report(caller, now)["reset"])
        if found is None:
            raise not_found()
        route, values = found
        caller, installation = _authenticate(state, route, request)
        if not route.free:
            state.budget.spend(caller, now)
        answer = _conditional(request, route.endpoint(Call(state, courier, request, values, caller, installation)))
        if answer.status == 304 and not route.free:
            state.budget.refund(caller, now)
    except Refusal as refusal:
        answer = refusal.answer
    state.calls[found[0].name if found else f"{request.method} elsewhere", answer.status] += 1
    return replace(answer, headers=budget.headers(state.budget.report(caller, now)) | answer.headers)


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


def _conditional(request: Request, answer: Answer) -> Answer:
    if request.method != "GET" or answer.status != 200:
        return answer
    etag = f'W/"{hashlib.sha256(answer.body).hexdigest()}"'
    headers = answer.headers | {"ETag": etag}
    if request.headers.get("if-none-match") == etag:
        return Answer(304, headers=headers)
    return replace(answer, headers=headers)
