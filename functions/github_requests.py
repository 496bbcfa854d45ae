"""Refreshes, re-runs and redeliveries for the API, which can't read the App's key and invokes this function instead."""

from dataclasses import asdict
from typing import Any

from runledger.model import message_format
from runledger.model.errors import NewerMessage
from runledger.platform import logs
from runledger.queries import github_requests
from runledger.queries.github_requests import RequestOutcome, Result
from runledger_github import wiring

# Reserved for the last call to GitHub.
RESERVED_MS = 5000

wiring.requests()  # created before the first request


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    logs.set_correlation_id(str(event.get(message_format.CORRELATION) or context.aws_request_id))
    try:
        request = github_requests.from_event(event)
    except NewerMessage as newer:
        logs.newer_message(newer, request=str(event.get("request")))
        return asdict(Result(outcome=RequestOutcome.UNAVAILABLE, message=str(newer)))
    requests = wiring.requests()
    result = requests.handle(request, has_time=lambda: context.get_remaining_time_in_millis() > RESERVED_MS)
    about = {"outcome": result.outcome, "reason": result.message}
    logs.logger.info("GitHub request", extra=github_requests.to_event(request) | about)
    return asdict(result)
