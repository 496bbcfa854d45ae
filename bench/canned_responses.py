"""Canned responses for the AWS services that the bench doesn't run."""

from __future__ import annotations

import json
from io import BytesIO
from typing import TYPE_CHECKING, Any

from botocore.awsrequest import AWSResponse
from botocore.compat import HTTPHeaders

from tests.api.client import stored
from tests.aws.price_lists import product
from tests.support.webhooks import SECRET

if TYPE_CHECKING:
    from collections.abc import Iterator

ON_DEMAND_PRICE = "0.0725"
CANNED: dict[str, dict[str, Any]] = {
    "sqs.SendMessage": {"MessageId": "a-message", "MD5OfMessageBody": "0" * 32},
    "lambda.Invoke": {"outcome": "no_app"},
    "pricing.GetProducts": {"PriceList": [product(ON_DEMAND_PRICE)]},
}
SECRETS: dict[str, dict[str, Any]] = {
    "the-webhook-secrets": {"current": SECRET},
    "the-api-tokens": stored(),
    "the-github-app": {},
}


class _Body(BytesIO):
    def stream(self, **_: object) -> Iterator[bytes]:
        yield self.read()


def respond_to(operation: str, request_body: bytes) -> AWSResponse:
    if operation == "secrets-manager.GetSecretValue":
        return json_response({"SecretString": json.dumps(SECRETS[json.loads(request_body)["SecretId"]])})
    return json_response(CANNED[operation])


def json_response(body: dict[str, Any], status: int = 200) -> AWSResponse:
    return response(json.dumps(body).encode(), status)


def response(content: bytes, status: int = 200) -> AWSResponse:
    return AWSResponse("http://aws.invalid/", status, HTTPHeaders(), _Body(content))


def throttled() -> AWSResponse:
    return json_response({"__type": "ThrottlingException", "message": "slow down"}, status=400)
