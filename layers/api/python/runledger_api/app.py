"""The API's entry point: authenticates and authorizes the caller, calls the route, and adds the response headers."""

import base64
import json
import re
import time
from collections.abc import Mapping
from typing import Any, Protocol

from aws_lambda_powertools.event_handler.api_gateway import APIGatewayHttpResolver, Response
from runledger.model import times
from runledger.platform import logs

from runledger_api import authorization, openapi, paths, problems, web_pages
from runledger_api.authentication import Authenticator, Caller
from runledger_api.errors import ApiError, InvalidParameter, NotFound
from runledger_api.read_units import ReadUnitMeter
from runledger_api.request import Request
from runledger_api.routes import ROUTERS

# A browser opens these before the user has entered a token. They contain no ledger data.
PUBLIC_PATHS = re.compile(r"/|/docs|/openapi\.json|/assets/[^/]*")
# API Gateway times out after 30 seconds.
READ_TIMEOUT_SECONDS = 20.0
# Unauthenticated callers choose the path, and log storage is billed per byte.
MAX_LOGGED_PATH = 200


class Installations(Protocol):
    def exists(self, installation_id: int) -> bool: ...


def build_resolver() -> APIGatewayHttpResolver:
    resolver = APIGatewayHttpResolver(enable_validation=True, response_validation_error_http_code=500)
    for router in ROUTERS:
        resolver.include_router(router)
    problems.register(resolver)
    openapi.serve(resolver)
    web_pages.serve(resolver)
    authorization.check_declarations(resolver)
    return resolver


class Api:
    def __init__(
        self,
        resolver: APIGatewayHttpResolver,
        *,
        authenticator: Authenticator,
        installations: Installations,
        meter: ReadUnitMeter,
    ) -> None:
        self._resolver = resolver
        self._authenticator = authenticator
        self._installations = installations
        self._meter = meter
        resolver.use([self._require_visible_installation])

    def handle(self, event: dict[str, Any], context: Any) -> dict[str, Any]:
        request_id = str(event["requestContext"].get("requestId", ""))
        logs.set_correlation_id(request_id)
        self._meter.reset()
        request = None
        try:
            request = self._authenticated_request(event)
            self._resolver.append_context(request=request)
            response = self._resolver.resolve(_normalised(event), context)
        except Exception as error:
            response = _lambda_response(problems.to_response(error))
        if request and request.is_write:
            audit = {"caller": request.caller.id, "path": request.path, "status": response["statusCode"]}
            logs.logger.info("admin action", extra=audit)
        response["headers"] |= {
            "X-Read-Units": f"{self._meter.units:g}",
            "X-Request-Id": request_id,
            "X-Content-Type-Options": "nosniff",
        }
        response["headers"].setdefault("Cache-Control", "no-store")
        return response

    def _authenticated_request(self, event: Mapping[str, Any]) -> Request | None:
        """None for public paths."""
        method, path = event["requestContext"]["http"]["method"].upper(), event["rawPath"]
        if PUBLIC_PATHS.fullmatch(path):
            return None
        caller = self._authenticate(event, method)
        ends_at = time.monotonic() + READ_TIMEOUT_SECONDS
        return Request(
            caller=caller,
            is_write=authorization.is_write(method),
            now=times.from_epoch_ms(event["requestContext"]["timeEpoch"]),
            path=path,
            query=event.get("queryStringParameters") or {},
            id=str(event["requestContext"].get("requestId", "")),
            source_ip=event["requestContext"]["http"].get("sourceIp"),
            host=event["requestContext"].get("domainName"),
            has_time=lambda: time.monotonic() < ends_at,
        )

    def _authenticate(self, event: Mapping[str, Any], method: str) -> Caller:
        try:
            caller = self._authenticator.authenticate((event.get("headers") or {}).get("authorization"))
            path = paths.normalised(event["rawPath"])
            caller.require(authorization.required_role(self._resolver, method, path))
            return caller
        except ApiError as error:
            about = {"reason": str(error), "path": event["rawPath"][:MAX_LOGGED_PATH]}
            logs.logger.warning("access denied", extra=about)
            raise

    def _require_visible_installation(self, resolver: APIGatewayHttpResolver, next_middleware: Any) -> Response[Any]:
        """A middleware, so that no route can omit the check. An installation that the caller can't see returns 404."""
        installation_id = resolver.context["_route_args"].get("installation_id")
        if installation_id is not None:
            caller: Caller = resolver.context["request"].caller
            if not caller.sees(installation_id) or not self._installations.exists(installation_id):
                raise NotFound(f"Installation {installation_id} was not found")
        response: Response[Any] = next_middleware(resolver)
        return response


def _normalised(event: dict[str, Any]) -> dict[str, Any]:
    body = event.get("body")
    if body and event.get("isBase64Encoded"):
        try:
            body = base64.b64decode(body).decode()
        except ValueError:
            raise InvalidParameter("body", "must be JSON in UTF-8") from None
    if body:
        _check_numbers(body)
    return {**event, "rawPath": paths.normalised(event["rawPath"]), "body": body, "isBase64Encoded": False}


def _check_numbers(body: str) -> None:
    """Powertools reports invalid JSON, but raises an unhandled ValueError for a number over Python's digit limit."""
    try:
        json.loads(body)
    except json.JSONDecodeError:
        pass
    except ValueError:
        raise InvalidParameter("body", "contains a number with too many digits") from None


def _lambda_response(response: Response[str]) -> dict[str, Any]:
    headers = {name: value for name, value in response.headers.items() if isinstance(value, str)}
    return {
        "statusCode": response.status_code,
        "headers": headers,
        "body": response.body,
        "isBase64Encoded": False,
    }
