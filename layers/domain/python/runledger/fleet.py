"""The machines themselves, on EC2 and ECS: which there are, which of them are ours, and how one is stopped."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ClientError

from runledger.instances import Instance, describe, describe_tasks, running_tasks, tagged
from runledger.ownership import has_tags, must_stay
from runledger.reports import Kind
from runledger.tables.attributes import reaching

NO_SUCH_INSTANCE = "InvalidInstanceID.NotFound"
NO_SUCH_TASK = "task was not found"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """`tags` decides what is ours: a machine that lacks one of them is never touched, and without tags none is."""

    ec2: Any
    ecs: Any
    cluster: str
    tags: Mapping[str, str]
    pool_tags: Sequence[str]

    def describe(self, runner_ids: Iterable[str]) -> dict[str, Instance]:
        """By id; who is not there is left out."""
        ids = set(runner_ids)
        tasks = {each for each in ids if kind_of(each) is Kind.ECS}
        found = describe(self.ec2, ids - tasks, pool_tags=self.pool_tags) if ids - tasks else {}
        if tasks:
            found |= describe_tasks(self.ecs, self.cluster, tasks, pool_tags=self.pool_tags)
        return found

    def ours(self) -> dict[str, Instance]:
        if not self.tags:
            return {}
        found = tagged(self.ec2, self.tags, pool_tags=self.pool_tags)
        found |= running_tasks(self.ecs, self.cluster, pool_tags=self.pool_tags)
        return {runner_id: each for runner_id, each in found.items() if self.is_ours(each)}

    def is_ours(self, instance: Instance) -> bool:
        """A machine that somebody marked to be kept is not ours to stop."""
        return bool(self.tags) and has_tags(instance.tags, self.tags) and not must_stay(instance.tags)

    def stop(self, instance: Instance, *, reason: str) -> None:
        """What is gone already is stopped."""
        try:
            if instance.kind is Kind.EC2:
                with reaching("ec2"):
                    self.ec2.terminate_instances(InstanceIds=[instance.runner_id])
            else:
                with reaching("ecs"):
                    self.ecs.stop_task(cluster=cluster_of(instance.runner_id), task=instance.runner_id, reason=reason)
        except ClientError as error:
            if not _is_gone(error):
                raise


def _is_gone(error: ClientError) -> bool:
    """ECS has one code for everything that is wrong with a parameter, and tells what in words."""
    code, message = error.response["Error"]["Code"], error.response["Error"]["Message"]
    return code == NO_SUCH_INSTANCE or NO_SUCH_TASK in message


def kind_of(runner_id: str) -> Kind:
    return Kind.ECS if runner_id.startswith("arn:") else Kind.EC2


def cluster_of(task_arn: str) -> str:
    """A task's ARN names its cluster between its kind and its id."""
    parts = task_arn.rpartition(":task/")[2].split("/")
    return parts[0] if len(parts) > 1 else "default"
