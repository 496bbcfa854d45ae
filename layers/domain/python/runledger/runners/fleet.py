"""The machines on EC2 and ECS: describes them, finds the runners of this deployment, and terminates them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from typing import Any

from botocore.exceptions import ClientError

from runledger.model.dataclass import dataclass
from runledger.model.errors import UnavailableError
from runledger.model.instance import Instance, RunnerKind
from runledger.model.ownership import has_tags, must_stay
from runledger.model.places import Scope, place_of
from runledger.platform.availability import translate_errors
from runledger.runners.instances import describe, describe_tasks, running_tasks, tagged

NO_SUCH_INSTANCE = "InvalidInstanceID.NotFound"
NO_SUCH_TASK = "task was not found"
PARTITIONS = {"cn-": "aws-cn", "us-gov-": "aws-us-gov"}  # by the prefix of their regions


def _ignore(_error: UnavailableError) -> None:
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """Machines of one account, in the regions of `scope`.

    Only machines with all of `tags` are terminated; if `tags` is empty, none is. A machine with one of `keep_tags` is
    never terminated: it belongs to a launcher's idle pool, or is a static runner. Tasks are terminated only in
    `clusters`. `client` returns the client of a service in a region. `on_deferred` is called when EC2 or ECS does not
    respond.
    """

    client: Callable[[str, str], Any]
    scope: Scope
    clusters: Sequence[str]
    tags: Mapping[str, str]
    pool_tags: Sequence[str]
    on_deferred: Callable[[UnavailableError], None] = _ignore
    keep_tags: Mapping[str, str] = field(default_factory=dict)

    def describe(self, runner_ids: Iterable[str]) -> dict[str, Instance]:
        """By id. Missing machines are omitted."""
        ids = set(runner_ids)
        tasks = {each for each in ids if kind_of(each) is RunnerKind.ECS}
        with self._reporting_errors():
            return self._instances(ids - tasks) | self._tasks(tasks)

    def find(self, runner_id: str, kind: RunnerKind) -> Instance | None:
        """One machine. If a task's id contains no cluster, all of `clusters` are searched."""
        with self._reporting_errors():
            found = self._instances({runner_id}) if kind is RunnerKind.EC2 else self._tasks({runner_id})
        return next(iter(found.values()), None)

    def arns_of(self, task_id: str) -> list[str]:
        """The ARNs that a task can have if its id contains no cluster."""
        account = self.scope.account_id
        return [
            f"arn:{_partition(region)}:ecs:{region}:{account}:task/{cluster}/{task_id}"
            for region in self.scope.regions
            for cluster in self.clusters
        ]

    def terminable(self) -> dict[str, Instance]:
        """The machines that this deployment may terminate, by id."""
        if not self.tags:
            return {}
        found: dict[str, Instance] = {}
        with self._reporting_errors():
            for region in self.scope.regions:
                found |= tagged(self.client("ec2", region), self.tags, pool_tags=self.pool_tags)
                for cluster in self.clusters:
                    found |= running_tasks(self.client("ecs", region), cluster, pool_tags=self.pool_tags)
        return {runner_id: each for runner_id, each in found.items() if self.may_terminate(each)}

    def has_runner_tags(self, instance: Instance) -> bool:
        """Stricter than `ownership.is_runner`: without configured tags, no machine has them."""
        return bool(self.tags) and has_tags(instance.tags, self.tags)

    def may_terminate(self, instance: Instance) -> bool:
        is_task = instance.kind is RunnerKind.ECS
        if is_task and cluster_of(instance.runner_id) not in self.clusters:
            return False  # the function's role doesn't allow it
        return self.has_runner_tags(instance) and not must_stay(instance.tags, self.keep_tags)

    def terminate(self, instance: Instance, *, reason: str) -> None:
        """Succeeds if the machine is already gone. Raises ValueError if it is out of scope: a bug in the caller."""
        if not self.scope.covers(instance.place):
            raise ValueError(f"runner {instance.runner_id} is not in an account and region of this deployment")
        assert instance.region is not None
        try:
            if instance.kind is RunnerKind.EC2:
                with translate_errors("ec2"):
                    self.client("ec2", instance.region).terminate_instances(InstanceIds=[instance.runner_id])
            else:
                ecs, cluster = self.client("ecs", instance.region), cluster_of(instance.runner_id)
                with translate_errors("ecs"):
                    ecs.stop_task(cluster=cluster, task=instance.runner_id, reason=reason)
        except ClientError as error:
            if not _is_gone(error):
                raise

    def _instances(self, ids: set[str]) -> dict[str, Instance]:
        """An instance's id contains no region, so ids that are missing in one region are looked up in the next."""
        found: dict[str, Instance] = {}
        for region in self.scope.regions:
            if left := ids - found.keys():
                found |= describe(self.client("ec2", region), left, pool_tags=self.pool_tags)
        return found

    def _tasks(self, ids: set[str]) -> dict[str, Instance]:
        places = {each: place for each in ids if self.scope.may_hold(place := place_of(each))}
        found: dict[str, Instance] = {}
        for region in self.scope.regions:
            here = {each for each, place in places.items() if place.region in (None, region)}
            for cluster in self.clusters:
                if left := here - found.keys():
                    found |= describe_tasks(self.client("ecs", region), cluster, left, pool_tags=self.pool_tags)
                here = {each for each in here if not _names_cluster(each)}  # described in its own cluster
        return found

    @contextmanager
    def _reporting_errors(self) -> Iterator[None]:
        try:
            yield
        except UnavailableError as error:
            self.on_deferred(error)
            raise


def _is_gone(error: ClientError) -> bool:
    """ECS has one error code for all invalid parameters, so this compares the message."""
    code, message = error.response["Error"]["Code"], error.response["Error"]["Message"]
    return code == NO_SUCH_INSTANCE or NO_SUCH_TASK in message


def kind_of(runner_id: str) -> RunnerKind:
    return RunnerKind.ECS if runner_id.startswith("arn:") else RunnerKind.EC2


def _partition(region: str) -> str:
    return next((name for start, name in PARTITIONS.items() if region.startswith(start)), "aws")


def _names_cluster(task_id: str) -> bool:
    return "/" in task_id.rpartition(":task/")[2]


def cluster_of(task_arn: str) -> str:
    """In a task's ARN the cluster is between `task/` and the id. Old ARNs contain no cluster."""
    parts = task_arn.rpartition(":task/")[2].split("/")
    return parts[0] if len(parts) > 1 else "default"
