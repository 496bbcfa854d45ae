"""Executes the API's requests. Each is checked against the tables before GitHub is called."""

from collections.abc import Callable
from itertools import islice

from runledger.model.dataclass import dataclass
from runledger.model.errors import GitHubRefusal, RateLimited, UnavailableError
from runledger.model.keys import NEWEST_ATTEMPT
from runledger.queries.caches import CachingTable, Found, Key, Refresh
from runledger.queries.github_requests import (
    GitHubRequest,
    Redeliver,
    RefreshDeployment,
    RefreshRun,
    RequestOutcome,
    RerunFailedJobs,
    Result,
)
from runledger.tables.deployments import DeploymentsTable
from runledger.tables.runs import RunsTable

from runledger_github.app import GitHubApp
from runledger_github.lookups import Fetch, Lookups, TooManyLookups
from runledger_github.state import GitHubState

# A page has 100 deliveries. Older ones can be requested by their number, which the App's settings on GitHub show.
PAGES_SEARCHED = 20

DONE, CLAIMED = Result(outcome=RequestOutcome.DONE), Result(outcome=RequestOutcome.CLAIMED)
NOT_FOUND = Result(outcome=RequestOutcome.NOT_FOUND)


@dataclass(frozen=True, slots=True, kw_only=True)
class Requests:
    """`github` is None without a GitHub App."""

    github: GitHubState | None
    runs: RunsTable
    deployments: DeploymentsTable
    lookups: Lookups

    def handle(self, request: GitHubRequest, *, has_time: Callable[[], bool]) -> Result:
        if self.github is None:
            return Result(outcome=RequestOutcome.NO_APP)
        try:
            return self._handle(request, self.github, has_time)
        except (RateLimited, TooManyLookups) as error:
            return Result(outcome=RequestOutcome.RATE_LIMITED, message=str(error))
        except UnavailableError as error:
            return Result(outcome=RequestOutcome.UNAVAILABLE, message=str(error))
        except GitHubRefusal as error:
            return Result(outcome=RequestOutcome.REFUSED, message=str(error))

    def _handle(self, request: GitHubRequest, github: GitHubState, has_time: Callable[[], bool]) -> Result:
        match request:
            case RefreshRun():
                return self._refresh(request, request.key, table=self.runs, fetch=github.run)
            case RefreshDeployment():
                return self._refresh(request, request.key, table=self.deployments, fetch=github.deployment)
            case RerunFailedJobs():
                return self._rerun(request, github.app)
            case Redeliver():
                return _redeliver(request.delivery_id, github.app, has_time)

    def _refresh(
        self,
        request: RefreshRun | RefreshDeployment,
        key: Key,
        *,
        table: CachingTable[Key, Found],
        fetch: Fetch[Key, Found],
    ) -> Result:
        item = table.get(key)
        if item and "repo_full_name" in item:
            return DONE if Refresh(table=table, fetch=fetch)(key, item["repo_full_name"]) else CLAIMED
        installation_id, repo = request.installation_id, request.repo_full_name
        if repo is None or not self.lookups.is_own(installation_id, repo):
            return NOT_FOUND
        look_up = Refresh(
            table=table,
            fetch=self.lookups.counted(installation_id, fetch),
            is_lookup=True,
            notes_found=isinstance(request, RefreshRun) and request.run_attempt == NEWEST_ATTEMPT,
        )
        return DONE if look_up(key, repo) else CLAIMED

    def _rerun(self, request: RerunFailedJobs, app: GitHubApp) -> Result:
        run = self.runs.get(request.key)
        if not run or "repo_full_name" not in run:
            return NOT_FOUND
        app.installation(request.installation_id).rerun_failed_jobs(run["repo_full_name"], request.run_id)
        return DONE


def _redeliver(delivery_id: str, app: GitHubApp, has_time: Callable[[], bool]) -> Result:
    is_number = delivery_id.isascii() and delivery_id.isdigit()
    number = int(delivery_id) if is_number else _find_number(delivery_id, app, has_time)
    if number is None:
        return NOT_FOUND
    app.redeliver(number)
    return Result(outcome=RequestOutcome.DONE, delivery_id=number)


def _find_number(guid: str, app: GitHubApp, has_time: Callable[[], bool]) -> int | None:
    for page in islice(app.hook_deliveries(), PAGES_SEARCHED):
        for delivery in page.deliveries:
            if delivery["guid"] == guid:
                return int(delivery["id"])
        if not has_time():
            raise UnavailableError("the search of GitHub's delivery log ran out of time")
    return None
