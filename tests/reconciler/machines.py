"""EC2 in memory, as far as the reconciler uses it: for many threads at once, and with stale responses."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from threading import Lock
from types import SimpleNamespace
from typing import Any

from botocore.exceptions import ClientError

from tests.reconciler.watching import Unwatched, Watch
from tests.support.runner_events import ACCOUNT

Machine = Mapping[str, Any]


class Machines:
    """The methods of boto3's client. `stops` has the id of each machine, once for each call that stopped it."""

    meta = SimpleNamespace(region_name="us-east-1")

    def __init__(self, watch: Watch | None = None) -> None:
        self._watch = watch or Unwatched()
        self._lock = Lock()
        self._machines: dict[str, Machine] = {}
        self.stops: list[str] = []

    def launch(self, instance_id: str, *, at: datetime, tags: Mapping[str, str]) -> None:
        self._machines[instance_id] = {
            "InstanceId": instance_id,
            "State": {"Name": "running"},
            "LaunchTime": at,
            "Tags": [{"Key": name, "Value": value} for name, value in tags.items()],
        }

    def seen(self) -> Mapping[str, Machine]:
        """The part of `describe_instances` that the reconciler reads."""
        return self._machines

    def now(self) -> Mapping[str, Machine]:
        return dict(self._machines)

    def get_paginator(self, _operation: str) -> "Machines":
        return self

    def paginate(self, **request: Any) -> Iterable[Mapping[str, Any]]:
        self._watch.before("DescribeInstances")
        with self._lock:
            seen = dict(self.seen())
        if "InstanceIds" in request:
            found = [_known(seen, each) for each in request["InstanceIds"]]
        else:
            found = [each for each in seen.values() if all(_passes(each, one) for one in request["Filters"])]
        self._watch.after("DescribeInstances")
        return [{"Reservations": [{"OwnerId": ACCOUNT, "Instances": found}]}]

    def terminate_instances(self, **request: Any) -> None:
        self._watch.before("TerminateInstances")
        with self._lock:
            for each in request["InstanceIds"]:
                self.stop(each)
        self._watch.after("TerminateInstances")

    def stop(self, instance_id: str) -> None:
        self.stops.append(instance_id)
        self._machines[instance_id] = {**_known(self._machines, instance_id), "State": {"Name": "shutting-down"}}


class NoTasks:
    """ECS without a task."""

    def get_paginator(self, _operation: str) -> "NoTasks":
        return self

    def paginate(self, **_request: Any) -> Iterable[Mapping[str, Any]]:
        return []


def _known(machines: Mapping[str, Machine], instance_id: str) -> Machine:
    if instance_id not in machines:
        message = f"The instance ID '{instance_id}' does not exist"
        refusal = {"Error": {"Code": "InvalidInstanceID.NotFound", "Message": message}}
        raise ClientError(refusal, "DescribeInstances")  # type: ignore[arg-type]
    return machines[instance_id]


def _passes(machine: Machine, wanted: Mapping[str, Any]) -> bool:
    if wanted["Name"] == "instance-state-name":
        return machine["State"]["Name"] in wanted["Values"]
    tags = {tag["Key"]: tag["Value"] for tag in machine["Tags"]}
    return tags.get(wanted["Name"].removeprefix("tag:")) in wanted["Values"]
