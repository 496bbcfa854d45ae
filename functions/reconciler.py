"""On a schedule, or on demand: a pass over open jobs, runners and lost webhooks, or the end of one orphan."""

import time
from typing import Any

from runledger import message_format, reconciler_runtime, telemetry, times
from runledger.errors import NewerMessage
from runledger.reconciliation import metrics
from runledger.reconciliation.summary import Kind, Report, new_id

reconciler_runtime.reconciler()  # made before the first pass


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """`pass` is quick or full, or `clean` names a runner; `id` is the one under which the result is waited for."""
    telemetry.follow(context.aws_request_id)
    try:
        message_format.check(event)
    except NewerMessage as newer:
        telemetry.newer_message(newer, id=event.get("id"))
        raise  # Lambda tries it again after one and two minutes, by then with the new code
    report = _work(event, context)
    metrics.finished(report)
    return {"id": report.id, "outcome": report.outcome, "summary": dict(report.summary), "text": report.text()}


def _work(event: dict[str, Any], context: Any) -> Report:
    reconciler = reconciler_runtime.reconciler()
    pass_id = event.get("id") or new_id(times.from_epoch_ms(round(time.time() * times.MS_PER_SECOND)))
    requested_by = event.get("requested_by")
    seconds_left = lambda: context.get_remaining_time_in_millis() / times.MS_PER_SECOND  # noqa: E731
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
        Kind(event.get("pass", Kind.FULL)),
        pass_id=pass_id,
        requested_by=requested_by,
        seconds_left=seconds_left,
    )
