"""Refreshes, re-runs and redeliveries for the API, which invokes this function because it lacks the App's key."""

from dataclasses import asdict
from typing import Any

from runledger import github_requests, github_runtime, telemetry
from runledger.errors import NewerMessage
from runledger.github_requests import Outcome, Result

# What is left for the last call to GitHub.
RESERVED_MS = 5000

github_runtime.requests()  # made before the first request


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    telemetry.follow(str(event.get("correlation_id") or context.aws_request_id))
    try:
        request = github_requests.from_event(event)
    except NewerMessage as newer:
        telemetry.newer_message(newer, request=str(event.get("request")))
        return asdict(Result(outcome=Outcome.UNAVAILABLE, message=str(newer)))
    requests = github_runtime.requests()
    result = requests.handle(request, has_time=lambda: context.get_remaining_time_in_millis() > RESERVED_MS)
    about = {"outcome": result.outcome, "reason": result.message}
    telemetry.logger.info("GitHub request", extra=github_requests.to_event(request) | about)
    return asdict(result)
