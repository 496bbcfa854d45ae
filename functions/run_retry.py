"""Errands of the ledger: a run is over and some of its jobs were cut short; should they run again?"""

from typing import Any

from runledger import batches, errands, github_runtime, telemetry

github_runtime.reruns()  # made before the first message


def handler(event: dict[str, Any], context: Any) -> Any:
    return batches.each(event, context, _take)


def _take(message: str) -> None:
    check = errands.rerun_check_from(message)
    reruns = github_runtime.reruns()
    result = reruns.consider(check) if reruns else "no GitHub App"
    telemetry.considered(check, result)
