"""The query and admin API, described at /openapi.json and shown at /docs."""

from typing import Any

from runledger import api_runtime
from runledger_api.application import build
from runledger_api.entrance import Entrance

entrance = Entrance(
    build(),
    doorkeeper=api_runtime.doorkeeper(),
    installations=api_runtime.installations(),
    meter=api_runtime.meter(),
)


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    return entrance.take(event, context)
