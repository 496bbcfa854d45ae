"""What launchers, EC2 and ECS publish about the runners of a job."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from local.demo.payloads.parts import timestamp
from local.demo.steps import BusEvent

if TYPE_CHECKING:
    from datetime import datetime

    from local.demo.payloads.entities import Delivery, Job, Payload

InstanceState = Literal["running", "shutting-down"]
TaskState = Literal["RUNNING", "STOPPED"]

# Instance types by lifecycle, with the hourly price in the launcher's pool and on demand.
_TYPES = {
    "spot": (("c7i.large", 0.0357, 0.08925), ("m7i.large", 0.0404, 0.1008), ("c7i.xlarge", 0.0714, 0.1785)),
    "on-demand": (("c7g.large", 0.0725, 0.0725), ("m7g.xlarge", 0.1632, 0.1632)),
}
_TASK = {
    "kind": "ecs",
    "instance_lifecycle": "spot",
    "pool_name": "fargate-spot",
    "price_per_hour": 0.0296,
    "on_demand_price_per_hour": 0.0987,
}
_INSTANCE_ID = re.compile(r"i-[0-9a-f]{17}")


def instance_of(started: Delivery) -> str | None:
    """The instance id from the runner's name."""
    found = _INSTANCE_ID.search(started.payload["workflow_job"]["runner_name"])
    return found and found[0]


def scheduled(job: Job, runner_id: str, at: datetime, *, instead_of: str | None = None) -> BusEvent:
    run = job.run
    detail_type = "runner_rescheduled" if instead_of else "runner_scheduled"
    detail: Payload = {
        "version": 1,
        "event_id": f"{detail_type} {runner_id}",
        "installation_id": run.repository.installation_id,
        "job_id": job.id,
        "run_id": run.id,
        "run_attempt": run.attempt,
        "repo_full_name": run.repository.full_name,
        "runner_id": runner_id,
        "runner_name": f"runner-{runner_id.rpartition('/')[2]}",
        "availability_zone": "us-east-1a",
        "scheduled_at": timestamp(at),
        "at": timestamp(at),
        **(_TASK if runner_id.startswith("arn:") else _instance(job, runner_id)),
    }
    if instead_of:
        detail["previous_runner_id"] = instead_of
    return BusEvent(
        source=f"{run.repository.owner}.launcher",
        detail_type=detail_type,
        subject=job,
        runner_id=runner_id,
        sent_at=at,
        detail=detail,
    )


def instance_state(job: Job, instance_id: str, state: InstanceState, at: datetime) -> BusEvent:
    detail = {"instance-id": instance_id, "state": state}
    return _from_aws(job, instance_id, "EC2 Instance State-change Notification", detail, at)


def interruption_warning(job: Job, instance_id: str, at: datetime) -> BusEvent:
    detail = {"instance-id": instance_id, "instance-action": "terminate"}
    return _from_aws(job, instance_id, "EC2 Spot Instance Interruption Warning", detail, at)


def task_state(
    job: Job, task: str, state: TaskState, at: datetime, *, interrupted_at: datetime | None = None
) -> BusEvent:
    """An interrupted spot task changes its desired status first and stops two minutes later."""
    detail = {"taskArn": task, "lastStatus": state, "desiredStatus": "STOPPED" if interrupted_at else state}
    if interrupted_at:
        detail |= {"stopCode": "SpotInterruption", "stoppingAt": timestamp(interrupted_at)}
    else:
        detail |= {"startedAt": timestamp(at)}
    if state == "STOPPED":
        detail |= {"stoppedAt": timestamp(at), "stoppedReason": "Your Spot Task was interrupted."}
    return _from_aws(job, task, "ECS Task State Change", detail, at)


def _instance(job: Job, instance_id: str) -> Payload:
    """The instance id determines the type, so all events of an instance agree."""
    lifecycle = "spot" if "spot" in job.labels else "on-demand"
    types = _TYPES[lifecycle]
    instance_type, price, on_demand_price = types[int(instance_id[-4:], 16) % len(types)]
    return {
        "kind": "ec2",
        "instance_type": instance_type,
        "instance_lifecycle": lifecycle,
        "pool_name": f"{job.labels[2]}-{lifecycle}",
        "price_per_hour": price,
        "on_demand_price_per_hour": on_demand_price,
    }


def _from_aws(job: Job, runner_id: str, detail_type: str, detail: Payload, at: datetime) -> BusEvent:
    source = f"aws.{detail_type[:3].lower()}"
    return BusEvent(source=source, detail_type=detail_type, subject=job, runner_id=runner_id, sent_at=at, detail=detail)
