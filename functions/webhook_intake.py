"""POST /webhooks/github: verifies and records GitHub's webhooks, within tens of milliseconds."""

import base64
import json
import os
from http import HTTPStatus
from typing import Any

from runledger.model import times
from runledger.model.errors import BadSignature, Malformed, OutOfScope, Rejection, TooLarge, UnavailableError, WrongHost
from runledger.platform import logs
from runledger.recording import telemetry
from runledger.webhooks.delivery import Delivery
from runledger.webhooks.intake import LONGEST_DELIVERY_ID, IntakeResult
from runledger.wiring import recording

STATUS_OF_REJECTION = {
    BadSignature: HTTPStatus.UNAUTHORIZED,
    OutOfScope: HTTPStatus.FORBIDDEN,
    **dict.fromkeys((Malformed, WrongHost), HTTPStatus.BAD_REQUEST),
    TooLarge: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
}
NOTHING_STORED = {IntakeResult.PONG, IntakeResult.IGNORED}
intake = recording.intake()


def handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    headers = event.get("headers") or {}
    try:
        delivery = _delivery(event, headers)
        # The signature isn't verified yet, so anyone may have sent this: limit what it adds to the log.
        logs.set_correlation_id(delivery.delivery_id[:LONGEST_DELIVERY_ID])
        result = intake.receive(delivery, headers.get("x-hub-signature-256"))
    except Rejection as rejection:
        telemetry.delivery_rejected(rejection)
        return _problem(STATUS_OF_REJECTION[type(rejection)], str(rejection))
    except UnavailableError:
        logs.logger.exception("delivery not recorded")
        return _problem(HTTPStatus.INTERNAL_SERVER_ERROR, "The delivery was not recorded: redeliver it")
    return _json(HTTPStatus.OK if result in NOTHING_STORED else HTTPStatus.ACCEPTED, {"result": result})


def _delivery(event: dict[str, Any], headers: dict[str, str]) -> Delivery:
    body = event.get("body") or ""
    return Delivery(
        event=headers.get("x-github-event", ""),
        delivery_id=headers.get("x-github-delivery", ""),
        body=base64.b64decode(body) if event.get("isBase64Encoded") else body.encode("utf-8", "replace"),
        received_at=times.from_epoch_ms(event["requestContext"]["timeEpoch"]),
        host=headers.get("x-github-enterprise-host"),
        received_by=os.environ.get("AWS_LAMBDA_LOG_STREAM_NAME"),
    )


def _problem(status: HTTPStatus, detail: str) -> dict[str, Any]:
    return _json(status, {"title": status.phrase, "status": status, "detail": detail}, "application/problem+json")


def _json(status: HTTPStatus, body: dict[str, Any], content_type: str = "application/json") -> dict[str, Any]:
    return {"statusCode": int(status), "headers": {"content-type": content_type}, "body": json.dumps(body)}
