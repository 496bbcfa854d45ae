"""EC2 and ECS events about machines. They contain no owner: the runners table does."""

from runledger.model import payload
from runledger.model.errors import Malformed
from runledger.model.instance import ENDING, SPOT_INTERRUPTION, AwsEvent
from runledger.model.payload import Json
from runledger.model.places import Place
from runledger.runners.tracker import RunnerTracker


def record(event: Json, tracker: RunnerTracker) -> None:
    """Records one EventBridge event. Warnings are best effort, so an end without a warning has the same effect.

    Events from accounts and regions out of scope are ignored, because EC2 and ECS can't be called there to confirm
    them.
    """
    kind = payload.required_text(event, "detail-type")
    detail = payload.section(event, "detail")
    at = payload.required_instant(event, "time")
    place = Place(account_id=payload.text(event, "account"), region=payload.text(event, "region"))
    if not tracker.scope.covers(place):
        return
    if kind == AwsEvent.WARNING:
        tracker.record_warning(_instance_id(detail), at=at, place=place)
    elif kind == AwsEvent.REBALANCE:
        tracker.record_rebalance(_instance_id(detail), at=at, place=place)
    elif kind == AwsEvent.INSTANCE_STATE:
        _record_instance_state(detail, tracker, at=at, place=place)
    elif kind == AwsEvent.TASK_STATE:
        _record_task_state(detail, tracker, at=at, place=place)
    else:
        raise Malformed("detail-type", f"is {kind}, which isn't a runner event")


def _record_instance_state(detail: Json, tracker: RunnerTracker, *, at: str, place: Place) -> None:
    state = payload.required_text(detail, "detail.state")
    if state == "running":
        tracker.record_start(_instance_id(detail), at=at, place=place)
    elif state in ENDING:
        tracker.record_end(_instance_id(detail), at=at, place=place, reason=state)


def _record_task_state(detail: Json, tracker: RunnerTracker, *, at: str, place: Place) -> None:
    task = payload.required_text(detail, "detail.taskArn")
    stopping = payload.instant(detail, "stoppingAt") or at
    if detail.get("stopCode") == SPOT_INTERRUPTION:
        tracker.record_warning(task, at=stopping, place=place)
    if detail.get("lastStatus") == "STOPPED":
        reason = payload.text(detail, "stoppedReason")
        stopped = payload.instant(detail, "stoppedAt") or at
        tracker.record_end(task, at=stopped, place=place, reason=reason)
    elif detail.get("lastStatus") == "RUNNING" and detail.get("desiredStatus") == "RUNNING":
        tracker.record_start(task, at=payload.instant(detail, "startedAt") or at, place=place)


def _instance_id(detail: Json) -> str:
    return payload.required_text(detail, "detail.instance-id")
