"""Executes requests of the API. Each is checked against the tables before GitHub is called."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Any

from runledger.model.errors import UnavailableError
from runledger.queries.caches import DeploymentRefresh, RunRefresh
from runledger.queries.github_requests import (
    Outcome,
    Redeliver,
    RefreshDeployment,
    RefreshRun,
    Request,
    RerunFailedJobs,
    Result,
)
from runledger.tables.deployments import DeploymentsTable
from runledger.tables.runs import RunsTable

from runledger_github.app import GitHubApp
from runledger_github.errors import GitHubRefusal, RateLimited
from runledger_github.truth import Truth

# A page has 100 deliveries. Older ones can be requested by number, which the App's settings on GitHub show.
PAGES_SEARCHED = 20

DONE, CLAIMED = Result(outcome=Outcome.DONE), Result(outcome=Outcome.CLAIMED)
NOT_FOUND = Result(outcome=Outcome.NOT_FOUND)


@dataclass(frozen=True, slots=True, kw_only=True)
class Requests:
    """`truth` is None without a GitHub App."""

    truth: Truth | None
    runs: RunsTable
    deployments: DeploymentsTable

    def handle(self, request: Request, *, has_time: Callable[[], bool]) -> Result:
        if self.truth is None:
            return Result(outcome=Outcome.NO_APP)
        try:
            return self._handle(request, self.truth, has_time)
        except RateLimited as error:
            return Result(outcome=Outcome.RATE_LIMITED, message=str(error))
        except UnavailableError as error:
            return Result(outcome=Outcome.UNAVAILABLE, message=str(error))
        except GitHubRefusal as error:
            return Result(outcome=Outcome.REFUSED, message=str(error))

    def _handle(self, request: Request, truth: Truth, has_time: Callable[[], bool]) -> Result:
        match request:
            case RefreshRun():
                key = (request.installation_id, request.run_id, request.run_attempt)
                refresh = RunRefresh(runs=self.runs, fetch=truth.run)
                return _refresh(self.runs.get(*key), lambda repo: refresh(key, repo))
            case RefreshDeployment():
                deployment_key = (request.installation_id, request.deployment_id)
                renew = DeploymentRefresh(deployments=self.deployments, fetch=truth.deployment)
                return _refresh(self.deployments.get(*deployment_key), lambda repo: renew(deployment_key, repo))
            case RerunFailedJobs():
                return self._rerun(request, truth.app)
            case Redeliver():
                return _redeliver(request.delivery_id, truth.app, has_time)

    def _rerun(self, request: RerunFailedJobs, app: GitHubApp) -> Result:
        run = self.runs.get(request.installation_id, request.run_id, request.run_attempt)
        if not run or "repo_full_name" not in run:
            return NOT_FOUND
        app.installation(request.installation_id).rerun_failed_jobs(run["repo_full_name"], request.run_id)
        return DONE


def _refresh(item: dict[str, Any] | None, refresh: Callable[[str], bool]) -> Result:
    if not item or "repo_full_name" not in item:
        return NOT_FOUND
    return DONE if refresh(item["repo_full_name"]) else CLAIMED


def _redeliver(delivery_id: str, app: GitHubApp, has_time: Callable[[], bool]) -> Result:
    is_number = delivery_id.isascii() and delivery_id.isdigit()
    number = int(delivery_id) if is_number else _find_number(delivery_id, app, has_time)
    if number is None:
        return NOT_FOUND
    app.redeliver(number)
    return Result(outcome=Outcome.DONE, delivery_id=number)


def _find_number(guid: str, app: GitHubApp, has_time: Callable[[], bool]) -> int | None:
    for page in islice(app.hook_deliveries(), PAGES_SEARCHED):
        for delivery in page.deliveries:
            if delivery["guid"] == guid:
                return int(delivery["id"])
        if not has_time():
            raise UnavailableError("the search of GitHub's delivery log ran out of time")
    return None
