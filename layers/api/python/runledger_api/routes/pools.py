"""Runner pools: utilisation, spot share and cost."""

from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from runledger.model.inputs import Status
from runledger.model.runner import RunnerStatus
from runledger.queries.pools import Pools as Figures
from runledger.queries.statistics_reader import completed_span

from runledger_api import parameters, wiring
from runledger_api.models.statistics import Pools
from runledger_api.parameters import INSTALLATION, InstallationId, Since, Until
from runledger_api.request import current_request
from runledger_api.responses import untyped

router = APIGatewayHttpRouter()


@router.get(
    f"{INSTALLATION}/pools",
    tags=["statistics"],
    operation_id="listPools",
    summary="Utilisation and cost of each runner pool",
    description=(
        "Jobs and cost cover the range (default: 24 hours); runners, `busy` and `utilisation` are current. "
        "`truncated` is true if there were too many jobs to read in time."
    ),
)
def utilisation(installation_id: InstallationId, since: Since = "24h", until: Until = None) -> Pools:
    request, pages = current_request(router), wiring.job_pages()
    begin, end = parameters.measured_range(request, since or "24h", until)
    figures = Figures(since=begin, until=end)
    figures.add_runners(
        each
        for each in wiring.runners().in_status(RunnerStatus.ACTIVE)
        if each.installation_id == installation_id and not each.contested_at
    )
    running, truncated = pages.every(pages.in_status(installation_id, Status.IN_PROGRESS), has_time=request.has_time)
    for job in running:
        figures.add_running(job, now=request.now)
    for page in pages.completed_jobs(installation_id, completed_span(begin, end)):
        for completed in page:
            figures.add_completed(completed)
        if not request.has_time():
            truncated = True
            break
    return untyped({"items": figures.to_json(), "next_cursor": None, "truncated": truncated})
