"""Calls GitHub through the `github_requests` function: only that function can read the App's private key."""

import json
from collections.abc import Callable
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError
from runledger.model.errors import UnavailableError
from runledger.platform import logs
from runledger.queries.caches import DeploymentKey, RunKey
from runledger.queries.github_requests import (
    Outcome,
    Redeliver,
    RefreshDeployment,
    RefreshRun,
    Request,
    RerunFailedJobs,
    Result,
    from_result,
    to_event,
)

from runledger_api.errors import Conflict, NotFound, TooManyRequests

# How long the result "no GitHub App" is cached.
NO_APP_SECONDS = 60.0


class GitHub:
    """`lambdas` creates the client on first use; most requests don't call GitHub."""

    def __init__(self, lambdas: Callable[[], Any], function: str, *, clock: Callable[[], float]) -> None:
        self._lambdas = lambdas
        self._function = function
        self._clock = clock
        self._no_app_until = float("-inf")

    def may_refresh(self) -> bool:
        return self._clock() >= self._no_app_until

    def refresh_run(self, key: RunKey, _repo_full_name: str) -> bool:
        installation_id, run_id, run_attempt = key
        return self._refresh(RefreshRun(installation_id=installation_id, run_id=run_id, run_attempt=run_attempt))

    def refresh_deployment(self, key: DeploymentKey, _repo_full_name: str) -> bool:
        installation_id, deployment_id = key
        return self._refresh(RefreshDeployment(installation_id=installation_id, deployment_id=deployment_id))

    def rerun_failed_jobs(self, installation_id: int, run_id: int, run_attempt: int) -> None:
        self._execute(RerunFailedJobs(installation_id=installation_id, run_id=run_id, run_attempt=run_attempt))

    def redeliver(self, delivery_id: str) -> int:
        """Returns GitHub's numeric id of the delivery."""
        number = self._execute(Redeliver(delivery_id=delivery_id)).delivery_id
        assert number is not None
        return number

    def _refresh(self, request: Request) -> bool:
        """False if another request is refreshing it. Raises UnavailableError on failure; callers then use the table."""
        try:
            result = self._invoke(request)
        except UnavailableError as error:
            logs.logger.warning("not refreshed", extra=to_event(request) | {"reason": str(error)})
            raise
        if result.outcome is Outcome.NO_APP:
            self._no_app_until = self._clock() + NO_APP_SECONDS
        elif result.outcome not in (Outcome.DONE, Outcome.CLAIMED):
            failure = {"outcome": result.outcome, "reason": result.message}
            logs.logger.warning("not refreshed", extra=to_event(request) | failure)
        if result.outcome is Outcome.DONE:
            return True
        if result.outcome is Outcome.CLAIMED:
            return False
        raise UnavailableError(f"not refreshed: {result.outcome}")

    def _execute(self, request: Request) -> Result:
        result = self._invoke(request)
        match result.outcome:
            case Outcome.DONE:
                return result
            case Outcome.NO_APP:
                raise Conflict("This deployment has no GitHub App: see docs/operating.md for the setup")
            case Outcome.NOT_FOUND:
                raise NotFound("Not found in the ledger, nor in the newest part of GitHub's delivery log")
            case Outcome.REFUSED:
                raise Conflict(f"GitHub rejected the request: {result.message}")
            case Outcome.RATE_LIMITED:
                raise TooManyRequests(result.message)
        raise UnavailableError(f"GitHub request: {result.message or result.outcome}")

    def _invoke(self, request: Request) -> Result:
        event = to_event(request) | {"correlation_id": logs.logger.get_correlation_id()}
        try:
            response = self._lambdas().invoke(FunctionName=self._function, Payload=json.dumps(event).encode())
            body = response["Payload"].read()
        except (BotoCoreError, ClientError) as error:
            raise UnavailableError(f"GitHub request: {error}") from error
        if "FunctionError" in response:
            raise UnavailableError("GitHub request: the function crashed or timed out: see its log")
        return from_result(json.loads(body))
