"""Errands of the ledger: a run is over and some of its jobs were cut short; should they run again?"""

from typing import Any

from runledger.platform import batches
from runledger.recording import follow_up, telemetry
from runledger_github import wiring

wiring.reruns()  # made before the first message


def handler(event: dict[str, Any], context: Any) -> Any:
    return batches.each(event, context, _take)


def _take(message: str) -> None:
    check = follow_up.rerun_check_from(message)
    reruns = wiring.reruns()
    result = reruns.consider(check) if reruns else "no GitHub App"
    telemetry.considered(check, result)
