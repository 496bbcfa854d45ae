"""The query and admin API. Its OpenAPI document is at /openapi.json, its reference at /docs."""

from typing import Any

from runledger_api import wiring
from runledger_api.app import Api, build_resolver

api = Api(
    build_resolver(),
    authenticator=wiring.authenticator(),
    installations=wiring.installations(),
    meter=wiring.meter(),
)


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    return api.handle(event, context)
