"""Refreshes, re-runs and redeliveries for the API, which invokes this function because it lacks the App's key."""

from dataclasses import asdict
from typing import Any

from runledger import github_requests, github_runtime, telemetry

# What is left for the last call to GitHub.
RESERVED_MS = 5000

requests = github_runtime.requests()


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    telemetry.follow(str(event.get("correlation_id") or context.aws_request_id))
    request = github_requests.from_event(event)
    result = requests.handle(request, has_time=lambda: context.get_remaining_time_in_millis() > RESERVED_MS)
    about = {"outcome": result.outcome, "reason": result.message}
    telemetry.logger.info("GitHub request", extra=github_requests.to_event(request) | about)
    return asdict(result)
