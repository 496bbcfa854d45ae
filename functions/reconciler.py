"""On a schedule or on demand: a pass over open jobs, runners and lost webhooks, or the cleanup of one orphan."""

from typing import Any

from runledger.model import message_format, times
from runledger.model.errors import NewerMessage
from runledger.model.passes import PassKind
from runledger.platform import logs
from runledger.reconciliation import metrics
from runledger.reconciliation.summary import PassReport
from runledger_github import reconciler_wiring

reconciler_wiring.reconciler()  # created before the first pass


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """`pass` is quick or full, or `clean` names a runner. The result is stored under `id`."""
    logs.set_correlation_id(str(event.get(message_format.CORRELATION) or context.aws_request_id))
    try:
        message_format.check(event)
    except NewerMessage as newer:
        logs.newer_message(newer, id=event.get("id"))
        raise  # Lambda doesn't retry it, so no result is stored. The caller has to request the pass again
    try:
        report = _run(event, context)
    except Exception:
        if "clean" not in event:
            metrics.crashed()
        raise
    metrics.finished(report)
    response = {"id": report.id, "outcome": report.outcome, "summary": dict(report.summary), "text": report.text()}
    return response | ({"result": report.result} if report.result else {})


def _run(event: dict[str, Any], context: Any) -> PassReport:
    reconciler = reconciler_wiring.reconciler()
    pass_id, requested_by = event.get("id"), event.get("requested_by")

    def seconds_left() -> float:
        return float(context.get_remaining_time_in_millis() / times.MS_PER_SECOND)

    if runner_id := event.get("clean"):
        limits = event.get("installations")
        return reconciler.clean(
            runner_id,
            pass_id=pass_id,
            seconds_left=seconds_left,
            requested_by=str(requested_by),
            installations=None if limits is None else frozenset(limits),
        )
    return reconciler.run(
        PassKind(event.get("pass", PassKind.FULL)),
        pass_id=pass_id,
        requested_by=requested_by,
        seconds_left=seconds_left,
    )
