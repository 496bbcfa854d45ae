"""What EC2 and ECS say about the machines themselves. Whose they are is the runners table's to know."""

from runledger import payload
from runledger.errors import Malformed
from runledger.payload import Json
from runledger.reports import AwsEvent
from runledger.runners import Runners

GOING = {"stopping", "stopped", "shutting-down", "terminated"}
SPOT_INTERRUPTION = "SpotInterruption"


def take(event: Json, runners: Runners) -> None:
    """One event of the default bus; warnings are best effort, so a death without one says the same."""
    kind = payload.required_text(event, "detail-type")
    detail = payload.section(event, "detail")
    at = payload.required_instant(event, "time")
    if kind == AwsEvent.WARNING:
        runners.interrupted(_instance_id(detail), at=at)
    elif kind == AwsEvent.REBALANCE:
        runners.rebalance_recommended(_instance_id(detail), at=at)
    elif kind == AwsEvent.INSTANCE_STATE:
        _take_instance(detail, runners, at=at)
    elif kind == AwsEvent.TASK_STATE:
        _take_task(detail, runners, at=at)
    else:
        raise Malformed("detail-type", f"is {kind}, which says nothing of a runner")


def _take_instance(detail: Json, runners: Runners, *, at: str) -> None:
    state = payload.required_text(detail, "detail.state")
    if state == "running":
        runners.attached(_instance_id(detail), at=at)
    elif state in GOING:
        runners.terminated(_instance_id(detail), at=at, reason=state)


def _take_task(detail: Json, runners: Runners, *, at: str) -> None:
    task = payload.required_text(detail, "detail.taskArn")
    stopping = payload.instant(detail, "stoppingAt") or at
    if detail.get("stopCode") == SPOT_INTERRUPTION:
        runners.interrupted(task, at=stopping)
    if detail.get("lastStatus") == "STOPPED":
        reason = payload.text(detail, "stoppedReason")
        runners.terminated(task, at=payload.instant(detail, "stoppedAt") or at, reason=reason)
    elif detail.get("lastStatus") == "RUNNING" and detail.get("desiredStatus") == "RUNNING":
        runners.attached(task, at=payload.instant(detail, "startedAt") or at)


def _instance_id(detail: Json) -> str:
    return payload.required_text(detail, "detail.instance-id")
