"""A cleaner that is killed before or after any call to AWS or GitHub: the next one finishes what it has begun.

A live machine is never stopped twice and no machine is forgotten. While the lease of the dead cleaner lasts, no other
cleaner changes the runner.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import pytest
from moto import mock_aws
from runledger.model.runner import Runner, RunnerStatus
from runledger.model.suspicion import Reason
from runledger.tables.cleanups import LEASE_SECONDS

from local.github import SimulatedGitHub
from tests.reconciler.orphans import outlived, register, terminations
from tests.reconciler.watching import StoppingPoint, Unwatched, Watch, Watched, WatchedEngine, watch_client
from tests.reconciler.wiring import (
    GRACE_MINUTES,
    ORG,
    TAGS,
    Clock,
    app_of,
    check_runners,
    cleanup_on,
    runners_on,
)
from tests.simulation.engine import Engine
from tests.support.beds import KEEP_SESSION, dump, empty
from tests.support.stopping import Stopped
from tests.support.webhooks import INSTALLATION

pytestmark = pytest.mark.walk

JOB_ID = 9
LONGEST_WALK = 100


@dataclass(kw_only=True)
class Scene:
    """One runner that was suspected, and any number of passes over it."""

    github: SimulatedGitHub
    dynamodb: Any = field(default_factory=Engine)  # in memory: a walk makes thousands of calls
    clock: Clock = field(default_factory=lambda: Clock(at=datetime.now(UTC) + timedelta(hours=1)))
    calls: Watched = field(default_factory=Watched)
    instance_id: str = ""
    stops: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.ec2 = boto3.client("ec2")
        self._clients = {service: boto3.client(service) for service in ("ec2", "ecs")}
        stops = self._clients["ec2"].meta.events
        stops.register("after-call.ec2.TerminateInstances", lambda **_: self.stops.append(self.instance_id))
        for client in self._clients.values():
            watch_client(client, self.calls)
        self._tables: Any = WatchedEngine(self.dynamodb, self.calls)

    def begin(self) -> None:
        empty(self.dynamodb)
        if self.instance_id:
            self.ec2.terminate_instances(InstanceIds=[self.instance_id])
        self.github.state.reset()
        self.github.state.put("installations", INSTALLATION, account=ORG)
        self.stops.clear()
        tags = [{"ResourceType": "instance", "Tags": [{"Key": name, "Value": value} for name, value in TAGS.items()]}]
        started = self.ec2.run_instances(ImageId="ami-12c6146b", MinCount=1, MaxCount=1, TagSpecifications=tags)
        self.instance_id = started["Instances"][0]["InstanceId"]

    @property
    def suspected_at(self) -> str:
        return self.clock.text(minutes=GRACE_MINUTES + 1)

    def check(self, watch: Watch, *, pass_id: str) -> None:
        """A process of its own, from its first call to its end."""
        self.calls.watch = watch
        cleanup = cleanup_on(
            self._tables,
            ec2=self._clients["ec2"],
            ecs=self._clients["ecs"],
            app=app_of(self.github, watch),
            clock=self.clock,
        )
        check_runners(cleanup, pass_id=pass_id)

    def runner(self) -> Runner:
        found = runners_on(self.dynamodb).table.get(self.instance_id)
        assert found is not None
        return found

    def state_of_machine(self) -> str:
        found = self.ec2.describe_instances(InstanceIds=[self.instance_id])
        state: str = found["Reservations"][0]["Instances"][0]["State"]["Name"]
        return state


@pytest.fixture
def scene(github: SimulatedGitHub) -> Iterator[Scene]:
    with mock_aws(config=KEEP_SESSION):
        yield Scene(github=github)


def its_job_is_completed(scene: Scene) -> None:
    outlived(scene.dynamodb, scene.instance_id, job_id=JOB_ID, suspected_at=scene.suspected_at)
    register(scene.github, scene.instance_id, runner_id=JOB_ID)


def it_never_had_a_job(scene: Scene) -> None:
    about = {"kind": "ec2", "created_at": scene.clock.text(hours=1)}
    runners_on(scene.dynamodb).table.suspect(scene.instance_id, at=scene.suspected_at, reason=Reason.NO_JOB, **about)
    register(scene.github, scene.instance_id, runner_id=JOB_ID)


def its_machine_is_gone(scene: Scene) -> None:
    outlived(scene.dynamodb, scene.instance_id, job_id=JOB_ID, suspected_at=None)
    table = runners_on(scene.dynamodb).table
    table.suspect(scene.instance_id, at=scene.suspected_at, reason=Reason.INSTANCE_GONE)
    scene.ec2.terminate_instances(InstanceIds=[scene.instance_id])


def it_has_another_job(scene: Scene) -> None:
    outlived(scene.dynamodb, scene.instance_id, job_id=JOB_ID, suspected_at=scene.suspected_at)
    register(scene.github, scene.instance_id, runner_id=JOB_ID, busy=True)


def deaths(scene: Scene, past: Any) -> Iterator[str]:
    """Worlds in which the cleaner dies before the first call of the pass, or after one of its calls."""
    for number, after in ((1, False), *((number, True) for number in range(1, LONGEST_WALK))):
        scene.begin()
        past(scene)
        try:
            scene.check(StoppingPoint(number, after=after), pass_id="the one that crashes")
        except Stopped as stopped:
            yield f"{'after' if after else 'before'} call {number}, {stopped}"
        else:
            return


@pytest.mark.parametrize("past", [its_job_is_completed, it_never_had_a_job, its_machine_is_gone])
def test_the_next_pass_finishes_what_a_dead_cleaner_has_begun(scene: Scene, past: Any) -> None:
    points = leases = 0
    for death in deaths(scene, past):
        points += 1
        leases += _lease_is_respected(scene)
        scene.clock.move(seconds=LEASE_SECONDS)
        scene.check(Unwatched(), pass_id="the next one")
        assert scene.runner().status is RunnerStatus.CLEANED, death
        assert scene.state_of_machine() == "terminated", death
        assert len(scene.stops) == (0 if past is its_machine_is_gone else 1), death
        assert not scene.github.state.runners, death
        assert terminations(scene.dynamodb, JOB_ID) == (0 if past is it_never_had_a_job else 1), death
    assert points > 10
    assert leases > 1


def test_a_busy_runner_is_left_alone_wherever_its_cleaner_dies(scene: Scene) -> None:
    for death in deaths(scene, it_has_another_job):
        _lease_is_respected(scene)
        scene.clock.move(seconds=LEASE_SECONDS)
        scene.check(Unwatched(), pass_id="the next one")
        assert (scene.runner().status, scene.state_of_machine()) == (RunnerStatus.ACTIVE, "running"), death
        assert scene.runner().suspected_at is None or scene.runner().suspected_at == scene.clock.text(), death
        assert not scene.stops, death
        assert JOB_ID in scene.github.state.runners, death


def _lease_is_respected(scene: Scene) -> bool:
    """Whether the dead cleaner had a lease; while it lasts, no other cleaner changes anything."""
    if scene.runner().status is not RunnerStatus.CLEANING:
        return False
    before, stops = dump(scene.dynamodb), len(scene.stops)
    scene.clock.move(seconds=LEASE_SECONDS - 1)
    scene.check(Unwatched(), pass_id="one that is too early")
    assert (dump(scene.dynamodb), len(scene.stops)) == (before, stops)
    scene.clock.move(seconds=1 - LEASE_SECONDS)
    return True
