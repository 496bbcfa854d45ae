"""Reads the queue of re-run checks: a run has completed, and some of its jobs may have to be re-run."""

from typing import Any

from runledger.model.runs import RerunOutcome, RerunResult
from runledger.platform import batches, logs
from runledger.recording import follow_up_queue
from runledger.runners import telemetry
from runledger_github import wiring

wiring.reruns()  # created before the first message


def handler(event: dict[str, Any], context: Any) -> Any:
    return batches.each(event, context, _consider)


def _consider(message: str) -> None:
    check = follow_up_queue.rerun_check_from(message)
    logs.continue_message(message)
    reruns = wiring.reruns()
    result = reruns.consider(check) if reruns else RerunResult(RerunOutcome.NO_APP)
    telemetry.considered(check, result)
