"""Where requests come in and answers go out: admission comes first, and every answer has the same headers."""

import base64
import json
import re
import time
from collections.abc import Mapping
from typing import Any, Protocol
from urllib.parse import quote, unquote

from aws_lambda_powertools.event_handler.api_gateway import APIGatewayHttpResolver, Response
from runledger import telemetry, times

from runledger_api import problems
from runledger_api.access import Caller, Doorkeeper
from runledger_api.refusals import BadParameter, NoSuchThing, Refused
from runledger_api.units import Meter
from runledger_api.visits import Visit

# The pages that a browser opens before anybody has typed in a token; nothing of the ledger is in them.
OPEN = re.compile(r"/|/docs|/openapi\.json|/assets/[^/]*")
READS = ("GET", "HEAD", "OPTIONS")
# API Gateway hangs up after 30 seconds.
SECONDS_TO_GATHER = 20.0
# API Gateway decodes the path, and the id of a task has slashes; the routes want one part.
RUNNER_IN_PATH = re.compile(r"(/admin/orphans/)(.+)(/cleanup)")

# A stranger chooses the path, and we pay for the log.
LONGEST_LOGGED = 200


class Installations(Protocol):
    def exists(self, installation_id: int) -> bool: ...


class Entrance:
    def __init__(
        self,
        app: APIGatewayHttpResolver,
        *,
        doorkeeper: Doorkeeper,
        installations: Installations,
        meter: Meter,
    ) -> None:
        self._app = app
        self._doorkeeper = doorkeeper
        self._installations = installations
        self._meter = meter
        app.use([self._only_visible])

    def take(self, event: dict[str, Any], context: Any) -> dict[str, Any]:
        request_id = str(event["requestContext"].get("requestId", ""))
        telemetry.follow(request_id)
        self._meter.reset()
        visit = None
        try:
            visit = self._visit(event)
            self._app.append_context(visit=visit)
            answer = self._app.resolve(_readable(event), context)
        except Exception as error:
            answer = _as_event(problems.answer_to(error))
        if visit and visit.orders:
            done = {"caller": visit.caller.id, "path": visit.path, "status": answer["statusCode"]}
            telemetry.logger.info("admin action", extra=done)
        answer["headers"] |= {
            "X-Read-Units": f"{self._meter.units:g}",
            "X-Request-Id": request_id,
            "X-Content-Type-Options": "nosniff",
        }
        answer["headers"].setdefault("Cache-Control", "no-store")
        return answer

    def _visit(self, event: Mapping[str, Any]) -> Visit | None:
        method, path = event["requestContext"]["http"]["method"].upper(), event["rawPath"]
        if OPEN.fullmatch(path):
            return None
        caller = self._admitted(event, method)
        ends_at = time.monotonic() + SECONDS_TO_GATHER
        return Visit(
            caller=caller,
            orders=method not in READS,
            now=times.from_epoch_ms(event["requestContext"]["timeEpoch"]),
            path=path,
            query=event.get("queryStringParameters") or {},
            has_time=lambda: time.monotonic() < ends_at,
        )

    def _admitted(self, event: Mapping[str, Any], method: str) -> Caller:
        try:
            caller = self._doorkeeper.admit((event.get("headers") or {}).get("authorization"))
            if method not in READS:
                caller.must_operate()
            return caller
        except Refused as refusal:
            telemetry.logger.warning(
                "refused", extra={"reason": str(refusal), "path": event["rawPath"][:LONGEST_LOGGED]}
            )
            raise

    def _only_visible(self, app: APIGatewayHttpResolver, next_middleware: Any) -> Response[Any]:
        """Here and not in the routes, so that none can forget it. What may not be seen does not exist."""
        installation_id = app.context["_route_args"].get("installation_id")
        if installation_id is not None:
            caller: Caller = app.context["visit"].caller
            if not caller.sees(installation_id) or not self._installations.exists(installation_id):
                raise NoSuchThing(f"there is no installation {installation_id}")
        answer: Response[Any] = next_middleware(app)
        return answer


def _readable(event: dict[str, Any]) -> dict[str, Any]:
    path = RUNNER_IN_PATH.sub(lambda found: found[1] + quote(unquote(found[2]), safe="") + found[3], event["rawPath"])
    body = event.get("body")
    if body and event.get("isBase64Encoded"):
        try:
            body = base64.b64decode(body).decode()
        except ValueError:
            raise BadParameter("body", "should be JSON in UTF-8") from None
    if body:
        _check_numbers(body)
    return {**event, "rawPath": path, "body": body, "isBase64Encoded": False}


def _check_numbers(body: str) -> None:
    """Powertools parses the body and reports what is not JSON, but not Python's limit on the digits of a number."""
    try:
        json.loads(body)
    except json.JSONDecodeError:
        pass
    except ValueError:
        raise BadParameter("body", "should not have a number with so many digits") from None


def _as_event(answer: Response[str]) -> dict[str, Any]:
    headers = {name: value for name, value in answer.headers.items() if isinstance(value, str)}
    return {
        "statusCode": answer.status_code,
        "headers": headers,
        "body": answer.body,
        "isBase64Encoded": False,
    }
