"""Invokes passes of the deployed reconciler, as its schedule does."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from local.aws import clients as aws
from local.processes import LocalError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mypy_boto3_lambda import LambdaClient

    from local.aws.outputs import Outputs


@dataclass(frozen=True, slots=True, kw_only=True)
class Pass:
    """The response of the reconciler."""

    id: str
    outcome: str
    summary: Mapping[str, int]
    text: str

    def excerpt(self) -> list[str]:
        """The lines of the report whose count isn't 0."""
        return [line for line in self.text.splitlines() if not line.endswith(": 0")]


def invoke(outputs: Outputs, kind: Literal["quick", "full"] = "full") -> Pass:
    with closing(aws.client(outputs, "lambda")) as functions:
        client: LambdaClient = functions
        request = json.dumps({"pass": kind, "requested_by": "demo"}).encode()
        response = client.invoke(FunctionName=outputs.functions["reconciler"], Payload=request)
        result = response["Payload"].read().decode()
    if "FunctionError" in response:
        raise LocalError(f"the reconciler failed: {result}")
    return Pass(**json.loads(result))
