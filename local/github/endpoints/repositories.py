"""The repositories of an installation: all repositories of its account that appear in the records."""

from local.github.messages import Answer
from local.github.paging import page_of
from local.github.routing import Call, Needs, Routes
from local.github.shapes.accounts import repository

routes = Routes(Needs.TOKEN)


@routes.add("GET", "/installation/repositories")
def list_repositories(call: Call) -> Answer:
    assert call.installation is not None  # the endpoint requires an installation token
    account = call.installation.account.lower()
    named = [
        *(run.repository for run in call.state.runs.values()),
        *(deployment.repository for deployment in call.state.deployments.values()),
        *(runner.scope for runner in call.state.runners.values() if "/" in runner.scope),
    ]
    found = sorted({name.lower(): name for name in named if name.partition("/")[0].lower() == account}.values())
    page, headers = page_of(call.request, found)
    answer = {"total_count": len(found), "repositories": [repository(call.site, each) for each in page]}
    return Answer(200, answer, headers)
