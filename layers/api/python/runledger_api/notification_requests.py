"""What requests about subscriptions and messages share."""

from collections.abc import Mapping
from typing import Any

from runledger.notifications.messages import Author

from runledger_api.errors import NotFound
from runledger_api.features import require_notifications
from runledger_api.request import Request


def author(request: Request) -> Author:
    urls = (f"https://{request.host}",) if request.host else ()
    return Author(id=request.caller.id, at=request.now, correlation_id=request.id, deployment_urls=urls)


def stored_message(installation_id: int, message_id: str) -> Mapping[str, Any]:
    found = require_notifications().messages.get(installation_id, message_id)
    if found is None:
        raise NotFound(f"Message {message_id} was not found, or has expired")
    return found


def message_body(installation_id: int, message_id: str) -> Any:
    found = stored_message(installation_id, message_id)
    return {**found, "payload": require_notifications().messages.payload(installation_id, message_id) or {}}
