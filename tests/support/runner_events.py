"""Events of launchers, EC2 and ECS, as EventBridge delivers them."""

import json
from typing import Any

from runledger.model.instance import Instance
from runledger.model.places import Scope
from runledger.runners.launcher_events import LauncherEvents
from runledger.runners.publishers import Publishers
from runledger.runners.tracker import RunnerTracker

from tests.support.webhooks import INSTALLATION, JOB, REPO, RUN

INSTANCE = "i-0abc1234def567890"
ACCOUNT = "123456789012"
SCOPE = Scope(account_id=ACCOUNT, regions=("us-east-1",))
TASK = f"arn:aws:ecs:us-east-1:{ACCOUNT}:task/runners/" + "0a" * 16


def envelope(detail_type: str, detail: dict[str, Any], *, source: str, minute: int, event_id: str) -> dict[str, Any]:
    return {
        "version": "0",
        "id": event_id,
        "detail-type": detail_type,
        "source": source,
        "account": ACCOUNT,
        "time": f"2025-01-15T10:{minute:02}:00Z",
        "region": "us-east-1",
        "resources": [],
        "detail": detail,
    }


def launcher(
    detail_type: str, *, job_id: int = JOB, runner_id: str = INSTANCE, minute: int = 1, **more: Any
) -> dict[str, Any]:
    detail = {
        "version": 1,
        "installation_id": INSTALLATION,
        "job_id": job_id,
        "run_id": RUN,
        "run_attempt": 1,
        "repo_full_name": REPO,
        "runner_id": runner_id,
        "kind": "ec2",
        "instance_type": "c7g.large",
        "instance_lifecycle": "spot",
        "fleet_id": "fleet-1",
        "pool_name": "small-arm64",
        "price_per_hour": 0.0335,
        **more,
    }
    return envelope(
        detail_type, detail, source="my.launcher", minute=minute, event_id=f"{detail_type} {job_id} {runner_id}"
    )


def interruption(*, runner_id: str = INSTANCE, minute: int = 5) -> dict[str, Any]:
    detail = {"instance-id": runner_id, "instance-action": "terminate"}
    kind = "EC2 Spot Instance Interruption Warning"
    return envelope(kind, detail, source="aws.ec2", minute=minute, event_id=f"warning {runner_id}")


def rebalance(*, runner_id: str = INSTANCE, minute: int = 4) -> dict[str, Any]:
    kind = "EC2 Instance Rebalance Recommendation"
    return envelope(
        kind, {"instance-id": runner_id}, source="aws.ec2", minute=minute, event_id=f"rebalance {runner_id}"
    )


def instance_state(state: str, *, runner_id: str = INSTANCE, minute: int = 2) -> dict[str, Any]:
    detail = {"instance-id": runner_id, "state": state}
    kind = "EC2 Instance State-change Notification"
    return envelope(kind, detail, source="aws.ec2", minute=minute, event_id=f"{state} {runner_id}")


def task_state(last_status: str, *, minute: int = 2, **more: Any) -> dict[str, Any]:
    detail = {"taskArn": TASK, "lastStatus": last_status, "desiredStatus": last_status, **more}
    return envelope("ECS Task State Change", detail, source="aws.ecs", minute=minute, event_id=f"{last_status} {TASK}")


def publish(event: dict[str, Any], runners: RunnerTracker, *, machine: Instance | None = None) -> None:
    """A launcher's event reaches the ledger; EC2 and ECS describe `machine`, and no price is known."""
    events = LauncherEvents(
        tracker=runners,
        publishers=Publishers(own_account=ACCOUNT),
        find_machine=lambda *_: machine,
        find_price=lambda query: query.reported,
        github_account=lambda _: None,
    )
    events.record(event)


def batch(*events: dict[str, Any] | str) -> dict[str, Any]:
    """Events in a batch, as Lambda gets them from a queue."""
    return {
        "Records": [
            {
                "messageId": f"m{number}",
                "eventSource": "aws:sqs",
                "body": event if isinstance(event, str) else json.dumps(event),
            }
            for number, event in enumerate(events)
        ]
    }
