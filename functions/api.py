"""The query and admin API. Its OpenAPI document is at /openapi.json, its reference at /docs."""

from typing import Any

from runledger import api_runtime
from runledger_api.app import Api, build_resolver

api = Api(
    build_resolver(),
    authenticator=api_runtime.authenticator(),
    installations=api_runtime.installations(),
    meter=api_runtime.meter(),
)


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    return api.handle(event, context)
