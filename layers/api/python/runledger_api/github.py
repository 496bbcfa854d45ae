"""Calls GitHub through the `github_requests` function: only that function can read the App's private key."""

import json
from collections.abc import Callable
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError
from runledger.model.errors import UnavailableError
from runledger.model.keys import DeploymentKey, RunKey
from runledger.platform import logs
from runledger.queries.github_requests import (
    GitHubRequest,
    Redeliver,
    RefreshDeployment,
    RefreshRun,
    RequestOutcome,
    RerunFailedJobs,
    Result,
    from_result,
    to_event,
)

from runledger_api.errors import Conflict, NotFound, TooManyRequests

# How long the result "no GitHub App" is cached.
NO_APP_SECONDS = 60.0
NOT_FOUND: dict[type[GitHubRequest], str] = {
    RerunFailedJobs: "The ledger doesn't have the repository of this run",
    Redeliver: "Not found in the ledger, nor in the newest part of GitHub's delivery log",
}


class NotRefreshed(UnavailableError):
    """A retry won't help: there is no GitHub App, or GitHub refuses the request."""


class LimitReached(UnavailableError):
    """GitHub's rate limit is reached, or the installation's limit of lookups per minute."""


class GitHub:
    """`lambdas` creates the client on first use; most requests don't call GitHub."""

    def __init__(self, lambdas: Callable[[], Any], function: str, *, clock: Callable[[], float]) -> None:
        self._lambdas = lambdas
        self._function = function
        self._clock = clock
        self._no_app_until = float("-inf")

    def may_refresh(self) -> bool:
        return self._clock() >= self._no_app_until

    def refresh_run(self, key: RunKey, repo_full_name: str) -> bool:
        return self._refresh(RefreshRun(**key._asdict(), repo_full_name=repo_full_name))

    def refresh_deployment(self, key: DeploymentKey, repo_full_name: str) -> bool:
        return self._refresh(RefreshDeployment(**key._asdict(), repo_full_name=repo_full_name))

    def rerun_failed_jobs(self, run: RunKey) -> None:
        self._execute(RerunFailedJobs(**run._asdict()))

    def redeliver(self, delivery_id: str) -> int:
        """Returns GitHub's numeric id of the delivery."""
        number = self._execute(Redeliver(delivery_id=delivery_id)).delivery_id
        assert number is not None
        return number

    def _refresh(self, request: GitHubRequest) -> bool:
        """False if another request is refreshing it. Raises UnavailableError on failure; callers then use the table."""
        try:
            result = self._invoke(request)
        except UnavailableError as error:
            logs.logger.warning("not refreshed", extra=to_event(request) | {"reason": str(error)})
            raise
        if result.outcome is RequestOutcome.NO_APP:
            self._no_app_until = self._clock() + NO_APP_SECONDS
        elif result.outcome not in (RequestOutcome.DONE, RequestOutcome.CLAIMED):
            failure = {"outcome": result.outcome, "reason": result.message}
            logs.logger.warning("not refreshed", extra=to_event(request) | failure)
        match result.outcome:
            case RequestOutcome.DONE:
                return True
            case RequestOutcome.CLAIMED:
                return False
            case RequestOutcome.NO_APP | RequestOutcome.NOT_FOUND | RequestOutcome.REFUSED:
                raise NotRefreshed(result.message or result.outcome)
            case RequestOutcome.RATE_LIMITED:
                raise LimitReached(result.message)
        raise UnavailableError(f"not refreshed: {result.outcome}")

    def _execute(self, request: GitHubRequest) -> Result:
        result = self._invoke(request)
        match result.outcome:
            case RequestOutcome.DONE:
                return result
            case RequestOutcome.NO_APP:
                raise Conflict("This deployment has no GitHub App: see docs/github-app.md for the setup")
            case RequestOutcome.NOT_FOUND:
                raise NotFound(NOT_FOUND[type(request)])
            case RequestOutcome.REFUSED:
                raise Conflict(f"GitHub refused the request: {result.message}")
            case RequestOutcome.RATE_LIMITED:
                raise TooManyRequests(result.message)
        raise UnavailableError(f"GitHub request: {result.message or result.outcome}")

    def _invoke(self, request: GitHubRequest) -> Result:
        event = to_event(request, correlation_id=logs.correlation_id())
        try:
            response = self._lambdas().invoke(FunctionName=self._function, Payload=json.dumps(event).encode())
            body = response["Payload"].read()
        except (BotoCoreError, ClientError) as error:
            raise UnavailableError(f"GitHub request: {error}") from error
        if "FunctionError" in response:
            raise UnavailableError("GitHub request: the function crashed or timed out: see its log")
        return from_result(json.loads(body))
