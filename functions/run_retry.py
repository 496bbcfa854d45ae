"""Re-run checks of the ledger: a run is over and some of its jobs were interrupted. Decides whether to re-run them."""

from typing import Any

from runledger.model.reruns import RerunOutcome, RerunResult
from runledger.platform import batches, logs
from runledger.recording import follow_up, telemetry
from runledger_github import wiring

wiring.reruns()  # made before the first message


def handler(event: dict[str, Any], context: Any) -> Any:
    return batches.each(event, context, _consider)


def _consider(message: str) -> None:
    check = follow_up.rerun_check_from(message)
    logs.follow_message(message)
    reruns = wiring.reruns()
    result = reruns.consider(check) if reruns else RerunResult(RerunOutcome.NO_APP)
    telemetry.considered(check, result)
