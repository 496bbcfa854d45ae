"""Orders passes of the deployed reconciler, as its schedule does, and shows what they tell."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from local import aws
from local.processes import LocalError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mypy_boto3_lambda import LambdaClient

    from local.outputs import Outputs


@dataclass(frozen=True, slots=True, kw_only=True)
class Pass:
    """As the reconciler answers."""

    id: str
    outcome: str
    summary: Mapping[str, int]
    text: str

    def excerpt(self) -> list[str]:
        """What there was, and nothing of what there was not."""
        return [line for line in self.text.splitlines() if not line.endswith(": 0")]


def order(outputs: Outputs, kind: Literal["quick", "full"] = "full") -> Pass:
    with closing(aws.client(outputs, "lambda")) as functions:
        client: LambdaClient = functions
        wish = json.dumps({"pass": kind, "requested_by": "demo"}).encode()
        answer = client.invoke(FunctionName=outputs.functions["reconciler"], Payload=wish)
        said = answer["Payload"].read().decode()
    if "FunctionError" in answer:
        raise LocalError(f"the reconciler failed: {said}")
    return Pass(**json.loads(said))
