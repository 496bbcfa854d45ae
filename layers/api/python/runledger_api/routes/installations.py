"""Installations, and what is new in one."""

from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from runledger import api_runtime, tail
from runledger.reports import InstallationStatus

from runledger_api import parameters
from runledger_api.answers import checked
from runledger_api.models.jobs import NewEvents
from runledger_api.models.statistics import Installations
from runledger_api.parameters import InstallationId, Limit, Since
from runledger_api.visits import visit

router = APIGatewayHttpRouter()


@router.get(
    "/v1/installations",
    tags=["installations"],
    operation_id="listInstallations",
    summary="Installations that the token may see",
)
def installations() -> Installations:
    caller = visit(router).caller
    items = [
        {"status": InstallationStatus.ACTIVE, **each}
        for each in api_runtime.registry().all()
        if caller.sees(each["installation_id"])
    ]
    return checked({"items": items, "next_cursor": None})


@router.get(
    "/v1/installations/<installation_id>/events",
    tags=["installations"],
    operation_id="listNewEvents",
    summary="What happened in an installation since an instant, oldest first",
    description="Go on with `next_since`. An event is told a second after it happened, and never twice.",
)
def events(installation_id: InstallationId, since: Since = "5m", limit: Limit = 50) -> NewEvents:
    here = visit(router)
    begin = parameters.instant("since", since or "5m", here) or here.now
    items, next_since = tail.newest_events(
        api_runtime.job_pages(),
        api_runtime.event_pages(),
        installation_id,
        since=begin,
        now=here.now,
        limit=limit,
    )
    return checked({"items": items, "next_since": next_since})
