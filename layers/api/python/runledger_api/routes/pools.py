"""Runner pools: utilisation, share of spot, and cost."""

from typing import Any

from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from runledger.model.inputs import Status
from runledger.model.runner import RunnerStatus
from runledger.queries import pools
from runledger.tables.pages import Span

from runledger_api import parameters, wiring
from runledger_api.models.statistics import Pools
from runledger_api.parameters import InstallationId, Since, Until
from runledger_api.request import current_request
from runledger_api.responses import checked

router = APIGatewayHttpRouter()
PAGE = 100
# Whole items are read, at half a read unit each.
MAX_COMPLETED = 1000


@router.get(
    "/v1/installations/<installation_id>/pools",
    tags=["statistics"],
    operation_id="listPools",
    summary="Utilisation and cost of each runner pool",
    description="Covers the newest 1,000 completed jobs in the range (default: 24 hours) and all current runners.",
)
def utilisation(installation_id: InstallationId, since: Since = "24h", until: Until = None) -> Pools:
    span = parameters.span(current_request(router), since, until)
    jobs, truncated = _completed(installation_id, span)
    active = [
        each
        for each in wiring.runners().in_status(RunnerStatus.ACTIVE)
        if each.installation_id == installation_id and not each.contested_at
    ]
    items = pools.utilisation([*jobs, *_running(installation_id)], active)
    return checked({"items": items, "next_cursor": None, "truncated": truncated})


def _completed(installation_id: int, span: Span) -> tuple[list[dict[str, Any]], bool]:
    pages, start, jobs = wiring.job_pages(), None, list[dict[str, Any]]()
    partition = pages.in_status(installation_id, Status.COMPLETED)
    while len(jobs) < MAX_COMPLETED:
        page = pages.page(partition, span, newest_first=True, limit=PAGE, start=start)
        jobs += page.jobs
        start = page.next_key
        if start is None:
            return jobs, False
    return jobs, True


def _running(installation_id: int) -> list[dict[str, Any]]:
    pages = wiring.job_pages()
    return pages.newest(pages.in_status(installation_id, Status.IN_PROGRESS), Span(), at_most=PAGE).jobs
