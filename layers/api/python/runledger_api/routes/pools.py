"""Pools of runners: how busy, how much on spot, at what price."""

from typing import Any

from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from runledger import api_runtime, pools
from runledger.machines import RunnerStatus
from runledger.model import Status
from runledger.tables.pages import Span

from runledger_api import parameters
from runledger_api.answers import checked
from runledger_api.models.statistics import Pools
from runledger_api.parameters import InstallationId, Since, Until
from runledger_api.visits import visit

router = APIGatewayHttpRouter()
PAGE = 100
# Whole jobs are loaded here, at half a read unit each.
COMPLETED_LOOKED_AT = 1000


@router.get(
    "/v1/installations/<installation_id>/pools",
    tags=["statistics"],
    operation_id="listPools",
    summary="What each pool of runners does and costs",
    description="Of the newest 1,000 completed jobs in the range (the last 24 hours), and of all runners of now.",
)
def utilisation(installation_id: InstallationId, since: Since = "24h", until: Until = None) -> Pools:
    span = parameters.span(visit(router), since, until)
    jobs, truncated = _completed(installation_id, span)
    mine = [
        each
        for each in api_runtime.runners().in_status(RunnerStatus.ACTIVE)
        if each.installation_id == installation_id and not each.contested_at
    ]
    items = pools.utilisation([*jobs, *_running(installation_id)], mine)
    return checked({"items": items, "next_cursor": None, "truncated": truncated})


def _completed(installation_id: int, span: Span) -> tuple[list[dict[str, Any]], bool]:
    pages, start, jobs = api_runtime.job_pages(), None, list[dict[str, Any]]()
    partition = pages.in_status(installation_id, Status.COMPLETED)
    while len(jobs) < COMPLETED_LOOKED_AT:
        page = pages.page(partition, span, newest_first=True, limit=PAGE, start=start)
        jobs += page.jobs
        start = page.next_key
        if start is None:
            return jobs, False
    return jobs, True


def _running(installation_id: int) -> list[dict[str, Any]]:
    pages = api_runtime.job_pages()
    return pages.newest(pages.in_status(installation_id, Status.IN_PROGRESS), Span(), at_most=PAGE).jobs
