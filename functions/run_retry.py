"""Errands of the ledger: a run is over and some of its jobs were cut short; should they run again?"""

import json
from typing import Any

from runledger import batches, github_runtime, telemetry
from runledger.reports import RerunCheck

reruns = github_runtime.reruns()


def handler(event: dict[str, Any], context: Any) -> Any:
    return batches.each(event, context, _take)


def _take(message: str) -> None:
    check = RerunCheck(**json.loads(message))
    result = reruns.consider(check) if reruns else "no GitHub App"
    telemetry.considered(check, result)
