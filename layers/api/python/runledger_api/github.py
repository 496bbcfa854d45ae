"""GitHub, as the API reaches it: through a function that holds the App's key, because this one is public."""

import json
from collections.abc import Callable
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError
from runledger import telemetry
from runledger.caches import DeploymentKey, RunKey
from runledger.errors import UnavailableError
from runledger.github_requests import (
    Outcome,
    Redeliver,
    RefreshDeployment,
    RefreshRun,
    Request,
    RerunFailedJobs,
    Result,
    to_event,
)

from runledger_api.refusals import Conflict, NoSuchThing, TooManyRequests

# How long the answer "there is no GitHub App" is believed.
NO_APP_SECONDS = 60.0


class GitHub:
    """`lambdas` makes the client when it is first needed; most answers need nothing of GitHub."""

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
        self._order(RerunFailedJobs(installation_id=installation_id, run_id=run_id, run_attempt=run_attempt))

    def redeliver(self, delivery_id: str) -> int:
        """GitHub's number of the delivery."""
        number = self._order(Redeliver(delivery_id=delivery_id)).delivery_id
        assert number is not None
        return number

    def _refresh(self, request: Request) -> bool:
        """False if another reader is refreshing it; UnavailableError, whatever failed: then the table answers."""
        try:
            result = self._invoke(request)
        except UnavailableError as error:
            telemetry.logger.warning("not refreshed", extra=to_event(request) | {"reason": str(error)})
            raise
        if result.outcome is Outcome.NO_APP:
            self._no_app_until = self._clock() + NO_APP_SECONDS
        elif result.outcome not in (Outcome.DONE, Outcome.CLAIMED):
            about = {"outcome": result.outcome, "reason": result.message}
            telemetry.logger.warning("not refreshed", extra=to_event(request) | about)
        if result.outcome is Outcome.DONE:
            return True
        if result.outcome is Outcome.CLAIMED:
            return False
        raise UnavailableError(f"not refreshed: {result.outcome}")

    def _order(self, request: Request) -> Result:
        result = self._invoke(request)
        match result.outcome:
            case Outcome.DONE:
                return result
            case Outcome.NO_APP:
                raise Conflict("This deployment has no GitHub App: docs/operating.md says how to set one up")
            case Outcome.NOT_FOUND:
                raise NoSuchThing("Neither the ledger nor the newest part of GitHub's delivery log has it")
            case Outcome.REFUSED:
                raise Conflict(f"GitHub refuses: {result.message}")
            case Outcome.RATE_LIMITED:
                raise TooManyRequests(result.message)
        raise UnavailableError(f"GitHub request: {result.message or result.outcome}")

    def _invoke(self, request: Request) -> Result:
        event = to_event(request) | {"correlation_id": telemetry.logger.get_correlation_id()}
        try:
            answer = self._lambdas().invoke(FunctionName=self._function, Payload=json.dumps(event).encode())
            body = answer["Payload"].read()
        except (BotoCoreError, ClientError) as error:
            raise UnavailableError(f"GitHub request: {error}") from error
        if "FunctionError" in answer:
            raise UnavailableError("GitHub request: the function crashed or timed out; its log says why")
        result = json.loads(body)
        return Result(**{**result, "outcome": Outcome(result["outcome"])})
