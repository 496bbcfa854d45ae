"""Responses match the OpenAPI document, for requests that schemathesis generates."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import hypothesis
import pytest
import schemathesis
from runledger_api import openapi
from runledger_api.app import build_resolver
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from local.aws.outputs import Outputs
from tests.e2e.api import call
from tests.e2e.test_webhooks import NO_INSTANCE, post
from tests.support.webhooks import DEPLOYMENT, INSTALLATION, LIFE, RUN, payload

JOB = 6_000_001
CHECKS = [
    *(not_a_server_error, status_code_conformance, content_type_conformance),
    *(response_schema_conformance, response_headers_conformance),
]
OPENAPI = openapi.build(build_resolver())
OPERATIONS = {
    operation["operationId"]: (method, path)
    for path, methods in OPENAPI["paths"].items()
    for method, operation in methods.items()
}
KNOWN = {
    "installation_id": INSTALLATION,
    "job_id": JOB,
    "run_id": RUN,
    "deployment_id": DEPLOYMENT,
    "runner_id": "i-0abc1234def567890",
    "pass_id": "20250115T100000000Z-abcdef",
    "delivery_id": "1",
    "event_id": "6d9f0a3c6f0f5a4be1d2c8a7719b0c55",
    "name": "pager",
    "subscription_id": "6d9f0a3c6f0f5a4be1d2c8a7719b0c55",
    "message_id": "6d9f0a3c6f0f5a4be1d2c8a7719b0c55",
    "owner": "acme",
    "repository": "ui",
    "package": "ui",
    "version": "1.0.0",
    "sha256": "0" * 64,
}
TEXTS = tuple(f"{{{name}}}" for name in KNOWN if name not in ("installation_id", "job_id", "run_id", "deployment_id"))
# A POST may start a pass of the reconciler.
EXAMPLES = {"get": 5, "post": 2, "put": 2, "patch": 2, "delete": 2}
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def document(outputs: Outputs) -> Any:
    for step in LIFE:
        post(outputs, payload(step, job_id=JOB, runner_name=NO_INSTANCE), guid=f"{step} of the schema")
    return call(outputs, "/openapi.json").body


@pytest.fixture(scope="module")
def schema(document: Any) -> Any:
    """One for all operations: it keeps the strategies that it has derived from its parts."""
    return schemathesis.openapi.from_dict(document)


def test_the_deployed_openapi_document_is_the_one_of_this_checkout(document: Any) -> None:
    assert document == OPENAPI


def cases() -> Iterator[Any]:
    for operation_id, (method, path) in OPERATIONS.items():
        for mode, known in product((GenerationMode.POSITIVE, GenerationMode.NEGATIVE), (True, False)):
            about = "of things that are there" if known else "of anything"
            if mode is GenerationMode.POSITIVE or _can_be_wrong(method, path, known=known):
                yield pytest.param(operation_id, mode, known, id=f"{operation_id}, {mode.value}, {about}")


def _can_be_wrong(method: str, path: str, *, known: bool) -> bool:
    """A request without a parameter is valid, and the gateway itself rejects a path that isn't text."""
    texts = any(text in path for text in TEXTS)
    return "parameters" in OPENAPI["paths"][path][method] and (known or not texts)


@pytest.mark.parametrize(("operation_id", "mode", "known"), list(cases()))
def test_a_response_matches_the_openapi_document(
    outputs: Outputs, schema: Any, operation_id: str, mode: GenerationMode, known: bool
) -> None:
    method, path = OPERATIONS[operation_id]
    operation = schema.find_operation_by_id(operation_id)
    parts = {name: value for name, value in KNOWN.items() if f"{{{name}}}" in path}

    @hypothesis.settings(max_examples=EXAMPLES[method], suppress_health_check=list(hypothesis.HealthCheck))
    @hypothesis.given(case=operation.as_strategy(mode, path_parameters=parts if known and parts else None))
    def call_api(case: Any) -> None:
        case.call_and_validate(
            base_url=outputs.api_url, headers={"Authorization": f"Bearer {outputs.admin_token}"}, checks=CHECKS
        )

    call_api()
