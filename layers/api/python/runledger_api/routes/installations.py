"""The caller, the installations they have access to, and an installation's newest events."""

from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from runledger.model.reports import InstallationStatus
from runledger.queries import tail

from runledger_api import parameters, wiring
from runledger_api.models.jobs import NewEvents
from runledger_api.models.statistics import Installations, Me
from runledger_api.parameters import INSTALLATION, InstallationId, Limit, Since
from runledger_api.request import current_request
from runledger_api.responses import untyped

router = APIGatewayHttpRouter()


@router.get("/v1/me", tags=["me"], operation_id="getMe", summary="The caller, their role and their installations")
def me() -> Me:
    caller = current_request(router).caller
    scope = caller.installations
    installations = None if scope is None else sorted(scope)
    return {
        "id": caller.id,
        "name": caller.name,
        "role": caller.role,
        "installations": installations,
        "feed": wiring.feed() is not None,
        "notifications": wiring.notifications() is not None,
        "releases": wiring.releases() is not None,
    }


@router.get(
    "/v1/installations",
    tags=["installations"],
    operation_id="listInstallations",
    summary="Installations that the token has access to",
)
def installations() -> Installations:
    caller = current_request(router).caller
    items = [
        {"status": InstallationStatus.ACTIVE, **each}
        for each in wiring.registry().all()
        if caller.sees(each["installation_id"])
    ]
    return untyped({"items": items, "next_cursor": None})


@router.get(
    f"{INSTALLATION}/events",
    tags=["installations"],
    operation_id="listNewEvents",
    summary="Events in an installation since a point in time, oldest first",
    description="Continue with `next_since`. An event is returned one second after it was recorded, and never twice.",
)
def events(installation_id: InstallationId, since: Since = "5m", limit: Limit = 50) -> NewEvents:
    request = current_request(router)
    begin = parameters.instant("since", since or "5m", request) or request.now
    items, next_since = tail.newest_events(
        wiring.job_pages(),
        wiring.event_pages(),
        installation_id,
        since=begin,
        now=request.now,
        limit=limit,
    )
    return untyped({"items": items, "next_since": next_since})
