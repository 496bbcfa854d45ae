"""Runner configs in S3. In the phase `dynamodb_first`, they supply scheduling attributes that the ledger doesn't have.

A config contains a JIT config and other secrets. Only the fields of `Scheduling` are kept, and errors contain no part
of the config.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from botocore.exceptions import ClientError

from runledger.migration.key_pattern import RUNNER_CONFIGS
from runledger.model import payload, times
from runledger.model.dataclass import dataclass
from runledger.model.inputs import Lifecycle
from runledger.model.instance import FindMachine, Instance, RunnerKind
from runledger.model.ownership import is_runner, named_owner
from runledger.platform.availability import translate_errors
from runledger.platform.logs import logger

LARGEST_CONFIG = 256 * 1024
LONGEST_LAUNCH_MS = 24 * times.MS_PER_HOUR
MISSING = {"NoSuchKey", "404"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheduling:
    """The scheduling attributes in a runner config: see docs/runner-config.v1.schema.json."""

    scheduled_at: str | None = None
    instance_type: str | None = None
    instance_lifecycle: Lifecycle | None = None
    pool_name: str | None = None


class RunnerConfigs:
    """`role_ids` are the unique ids of the instance roles. Each machine's folder begins with one of them."""

    def __init__(self, client: Any, bucket: str, *, role_ids: Sequence[str]) -> None:
        self._client = client
        self._bucket = bucket
        self._role_ids = role_ids

    def find(self, instance_id: str) -> Scheduling | None:
        """Raises ClientError if S3 rejects the request, for example because the bucket doesn't exist."""
        for role_id in self._role_ids:
            if body := self._get(config_key(role_id, instance_id)):
                return scheduling_in(body)
        return None

    @translate_errors("runner config bucket")
    def _get(self, key: str) -> bytes | None:
        try:
            body: bytes = self._client.get_object(Bucket=self._bucket, Key=key)["Body"].read(LARGEST_CONFIG)
        except ClientError as error:
            if error.response["Error"]["Code"] in MISSING:
                return None
            raise
        return body


@dataclass(frozen=True, slots=True, kw_only=True)
class FindMachineWithFallback:
    """Describes a job's machine that no launcher reported: EC2's description, completed from the machine's config.

    The config is read only if EC2 describes the machine and its tags show that it is a runner. The machine's id comes
    from the name of the runner, which proves neither. The tags show who owns the machine, as always.
    """

    find_machine: FindMachine
    configs: RunnerConfigs
    looked_up: Callable[[str, bool], None]
    rejected: Callable[[str, ClientError], None]
    runner_tags: Mapping[str, str]

    def __call__(self, runner_id: str, kind: RunnerKind) -> Instance | None:
        machine = self.find_machine(runner_id, kind)
        if machine is None or kind is not RunnerKind.EC2 or not self._is_runner(machine):
            return machine
        try:
            found = self.configs.find(runner_id)
        except ClientError as error:
            self.rejected(runner_id, error)  # the machine is recorded without its config
            return machine
        self.looked_up(runner_id, found is not None)
        return completed(machine, found) if found else machine

    def _is_runner(self, machine: Instance) -> bool:
        return is_runner(machine.tags, self.runner_tags) or named_owner(machine.tags) is not None


def config_key(role_id: str, instance_id: str) -> str:
    return f"{RUNNER_CONFIGS}{role_id}:{instance_id}/runner-config.json"


def completed(machine: Instance, found: Scheduling) -> Instance:
    """EC2's values win, except for the time: the config has the time at which the launcher requested the machine."""
    requested = found.scheduled_at if _is_plausible(found.scheduled_at, machine.launched_at) else None
    return replace(
        machine,
        instance_type=machine.instance_type or found.instance_type,
        lifecycle=machine.lifecycle or found.instance_lifecycle,
        pool_name=machine.pool_name or found.pool_name,
        launched_at=requested or machine.launched_at,
    )


def _is_plausible(scheduled_at: str | None, launched_at: str | None) -> bool:
    """A machine is requested at most a day before its launch, and never after it, as for launcher events."""
    if scheduled_at is None or launched_at is None:
        return False
    return 0 <= times.ms_between(scheduled_at, launched_at) <= LONGEST_LAUNCH_MS


def scheduling_in(body: bytes) -> Scheduling | None:
    """None if it isn't a config. No part of it is logged."""
    try:
        config = json.loads(body)
    except (ValueError, RecursionError):
        config = None
    if not isinstance(config, dict):
        logger.warning("runner config ignored: it isn't a JSON object")
        return None
    lifecycle = config.get("instance_lifecycle")
    return Scheduling(
        scheduled_at=payload.instant(config, "scheduled_at"),
        instance_type=payload.text(config, "instance_type"),
        instance_lifecycle=Lifecycle(lifecycle) if lifecycle in tuple(Lifecycle) else None,
        pool_name=payload.text(config, "pool_name"),
    )
