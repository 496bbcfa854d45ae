"""The repositories and the rate limit of the caller's installation."""

from local.github.messages import Response
from local.github.paging import page_of
from local.github.routing import Call, Needs, Routes
from local.github.shapes.accounts import repository

routes = Routes(Needs.TOKEN)


@routes.add("GET", "/installation/repositories")
def list_repositories(call: Call) -> Response:
    """All repositories of the account that occur in the records."""
    assert call.installation is not None  # the endpoint requires an installation token
    account = call.installation.account.lower()
    recorded = [
        *(run.repository for run in call.state.runs.values()),
        *(deployment.repository for deployment in call.state.deployments.values()),
        *(runner.scope for runner in call.state.runners.values() if "/" in runner.scope),
    ]
    names = sorted({name.lower(): name for name in recorded if name.partition("/")[0].lower() == account}.values())
    page, headers = page_of(call.request, names)
    document = {"total_count": len(names), "repositories": [repository(call.site, name) for name in page]}
    return Response(200, document, headers)


@routes.add("GET", "/rate_limit", free=True)
def get_rate_limit(call: Call) -> Response:
    core = call.state.budget.report(call.caller, call.state.now())
    return Response(200, {"resources": {"core": core, "search": core}, "rate": core})
